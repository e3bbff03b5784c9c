"""The ASGI entry point for other servers than `roofline serve`: `uvicorn roofline.main:app`."""

from roofline.settings import Settings
from roofline.web.app import create_app
from roofline.web.http.logs import configure

settings = Settings.from_env()
configure(settings.log_format)
app = create_app(settings)
