/** What every chunk of an answer, or the whole answer, says of it. */
export interface AnswerHead {
  /** `chatcmpl-…` */
  id: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
}
