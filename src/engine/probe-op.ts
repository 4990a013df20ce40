/** The operation that loads a module and looks for its handler without calling it. No plugin ever sees it. */
export const probeOp = "mortise.probe";
