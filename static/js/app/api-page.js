// The API reference: only its copy buttons need a script.

import { wireCopyButtons } from "../ui/clipboard.js";

wireCopyButtons();
