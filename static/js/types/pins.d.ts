// Notes on single points of a profile.

/** A pin of the link. */
export interface Pin {
  /** An op, "12", or a point of the program, "p3". */
  at: string;
  note: string;
}

/** A note that the server keeps; `GET /api/v1/profiles/{id}/notes`. */
export interface KeptNote {
  id: string;
  kind: string;
  name: string;
  program: string;
  text: string;
  by: string;
  at: string;
}
