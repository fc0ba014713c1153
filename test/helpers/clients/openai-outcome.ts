import OpenAI from 'openai';

/** The status, code and param of what OpenAI's SDK was refused, or 200. */
export async function openaiOutcome(asked: PromiseLike<unknown>): Promise<unknown> {
  try {
    await asked;
    return 200;
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    return [error.status, error.code, error.param];
  }
}
