// The page of a failed request, and of an import that failed: only its report needs a script.

import { wireReport } from "../ui/error-card.js";
import { part } from "../ui/dom.js";

wireReport(part("error-card"));
