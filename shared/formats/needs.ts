/** What a request needs of the model that serves it, for choosing a worker. */
export interface Needs {
  tools: boolean;
  vision: boolean;
  thinking: boolean;
  json: boolean;
  /** The input's tokens, roughly: a context window must hold at least about as many. */
  inputTokens: number;
}
