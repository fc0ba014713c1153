import type { JsonObject } from '#shared/core/json.ts';
import type { Piece, ConversationSettings, Turn } from './conversation.ts';

export interface Snippet {
  id: string;
  name: string;
  /** What the code is for: a package, a shell, or a file. */
  purpose: string;
  code: string;
}

export interface WantedBatch {
  /** The id of the uploaded file. */
  file: string;
  endpoint: string;
  /** Hours after which unfinished lines expire. */
  hours: number;
}

/** The paths of files and batches below a format's base, and the body that creates a batch. */
export interface WebBatches {
  filesPath: string;
  path: string;
  buildCreation: (wanted: WantedBatch) => JsonObject;
}

/** How the pages use a client format: its requests, streams, batches and example code. */
export interface WebFormat {
  /** The name of the format in `RouterFacts`. */
  name: string;
  /** The common name of the format, for example `OpenAI`. */
  label: string;
  /** The path of a conversation below the format's base, for example `/chat/completions`. */
  path: string;
  /** The headers of a request besides the content type and the key. */
  headers: Readonly<Record<string, string>>;
  /** Builds the body of a streamed request from a conversation. */
  buildRequest: (turns: readonly Turn[], settings: ConversationSettings) => JsonObject;
  /**
   * Creates a reader of one streamed answer. The reader is called with the data of each event in order, and returns what the event adds.
   */
  openReader: () => (data: string) => Piece[];
  /** How to upload files and create batches; absent if the API of the format creates no batches from files. */
  batches?: WebBatches;
  /**
   * Returns example code that requests a model with the usual clients. The key is always in the variable RTR_KEY, never in the code.
   * @param base the format's URL, for example `http://127.0.0.1:8484/api/openai`
   */
  snippets: (model: string, base: string) => Snippet[];
}
