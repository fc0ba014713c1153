import type { JsonObject } from '#shared/core/json.ts';
import type { Piece, Settings, Turn } from './conversation.ts';

export interface Snippet {
  id: string;
  name: string;
  /** The place where the code is put, such as a file. */
  about: string;
  code: string;
}

export interface WantedBatch {
  /** The id of the file, as the upload answered it. */
  file: string;
  endpoint: string;
  /** Hours after which unfinished lines expire. */
  hours: number;
}

/** The paths of files and batches below a format's base, and the body that creates a batch. */
export interface WebBatches {
  filesPath: string;
  path: string;
  creation: (wanted: WantedBatch) => JsonObject;
}

/** What the pages know of a client format, to speak it and to show example code for it. They contain no other knowledge of formats. */
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
  buildRequest: (turns: readonly Turn[], settings: Settings) => JsonObject;
  /**
   * Creates a reader of one streamed answer. The reader is called with the data of each event in order, and returns what the event adds.
   */
  openReader: () => (data: string) => Piece[];
  /** How to upload files and create batches; absent for a format whose API has no such batches. */
  batches?: WebBatches;
  /**
   * Returns example code that requests a model with the usual clients. The key is always in the variable RTR_KEY, never in the code.
   * @param base the format's URL, for example `http://127.0.0.1:8484/api/openai`
   */
  snippets: (model: string, base: string) => Snippet[];
}
