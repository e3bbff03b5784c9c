// Copying the link of a run of hosts: the open host, the colours and the list are in it.

import { copyLink } from "../page/toast.js";
import { buttonPart } from "../ui/dom.js";

buttonPart("copy-link").addEventListener("click", () => copyLink());
