import type { JsonObject } from '#shared/core/json.ts';
import type { Piece, Settings, Turn } from './conversation.ts';

/** How to ask for a model with one client. */
export interface Snippet {
  id: string;
  name: string;
  /** Where the code goes. */
  about: string;
  code: string;
}

/** What a batch is created of. */
export interface WantedBatch {
  /** The id of the file, as the upload answered it. */
  file: string;
  endpoint: string;
  /** After which what is not done expires. */
  hours: number;
}

/** The paths of files and batches below a format's base, and the body that creates a batch. */
export interface WebBatches {
  filesPath: string;
  path: string;
  creation: (wanted: WantedBatch) => JsonObject;
}

/** A client format, as far as the pages speak it and show how to. The pages know nothing else of any format. */
export interface WebFormat {
  /** As in `About`. */
  name: string;
  /** What people call it, as `OpenAI`. */
  label: string;
  /** The path of a conversation below the format's base, as `/chat/completions`. */
  path: string;
  /** Headers of a request besides the content type and the key. */
  headers: Readonly<Record<string, string>>;
  /** The conversation as the body of a streamed request. */
  buildRequest: (turns: readonly Turn[], settings: Settings) => JsonObject;
  /** A reader of one streamed answer: called with the data of each event in turn, it returns what the event adds. */
  openReader: () => (data: string) => Piece[];
  /** How files are uploaded, and batches of the requests in them created; absent for a format whose API has no such batches. */
  batches?: WebBatches;
  /**
   * How to ask for a model with the usual clients. The key is always in the variable RTR_KEY, never in the code.
   * @param base the format's address, as `http://127.0.0.1:8484/api/openai`
   */
  snippets: (model: string, base: string) => Snippet[];
}
