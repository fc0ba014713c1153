import OpenAI from 'openai';

/** Returns the status, code and param of the refusal that OpenAI's SDK got, or 200. */
export async function openaiOutcome(asked: PromiseLike<unknown>): Promise<unknown> {
  try {
    await asked;
    return 200;
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    return [error.status, error.code, error.param];
  }
}
