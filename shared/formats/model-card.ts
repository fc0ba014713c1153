/** What clients are told about a model. */
export interface ModelCard {
  id: string;
  /** When it became known, in seconds since 1970. */
  created: number;
  ownedBy: string;
  /** Tokens of input and output together, where known. */
  contextWindow?: number | undefined;
  /** Tokens of output at most, where known. */
  maxOutput?: number | undefined;
}
