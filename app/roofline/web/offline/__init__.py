"""Pages as text and as files: their views, templates, scripts and styles. It knows no HTTP."""
