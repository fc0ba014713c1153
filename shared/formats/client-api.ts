/** The paths below one segment of `/api/`: what the SDKs of one vendor reach with one base URL and one key. */
export interface ClientApi {
  /** The path segment: `/api/<segment>`. */
  segment: string;
  /** The ingress's setting that renames the segment; undefined for one that cannot be renamed. */
  segmentSetting?: 'CHAT_FAMILY' | 'MESSAGES_FAMILY';
  /** What stands between the segment and the paths of its formats; `''` for nothing. A request may use any of them. */
  prefixes: readonly string[];
  /** A header that may carry the key, besides `Authorization: Bearer`. */
  keyHeader?: string;
  /** Paths below the segment that answer every GET with this JSON, without a key. */
  greetings?: Readonly<Record<string, object>>;
  /** `GET /models`: what the key may ask for, as this API's clients expect it. */
  listModels(cards: readonly ModelCard[], query: Readonly<Record<string, unknown>>): object;
  /** `GET /models/<id>`. */
  showModel(card: ModelCard): object;
}

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
