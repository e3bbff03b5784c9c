"""The ASGI entry point for other servers: `uvicorn app.main:app`. `roofline serve` is the usual."""

from app.settings import Settings
from app.web.app import create_app
from app.web.logs import configure

settings = Settings.from_env()
configure(settings.log_format)
app = create_app(settings)
