import type { ServerContext } from '@modelcontextprotocol/server';
import type { Logger } from '#shared/core/log.ts';
import type { ToolProgress } from '#shared/formats/tools/tool-result.ts';

/** Tells a client how far its call has come, in order, if it asked for that with a token. */
export class ProgressTeller {
  readonly isWanted: boolean;
  readonly #request: ServerContext['mcpReq'];
  readonly #log: Logger;
  #told: Promise<void> = Promise.resolve();

  constructor(request: ServerContext['mcpReq'], log: Logger) {
    this.isWanted = request._meta?.progressToken !== undefined;
    this.#request = request;
    this.#log = log;
  }

  /** Resolves when all so far is told: the result, which ends the stream, must not overtake it. */
  get told(): Promise<void> {
    return this.#told;
  }

  readonly tell = (progress: ToolProgress): void => {
    this.#told = this.#told
      .then(() => this.#notify(progress))
      .catch((error: unknown) => this.#log.debug({ err: error }, 'progress could not be told'));
  };

  async #notify(progress: ToolProgress): Promise<void> {
    const progressToken = this.#request._meta?.progressToken;
    if (progressToken === undefined) return;
    await this.#request.notify({ method: 'notifications/progress', params: { progressToken, ...progress } });
  }
}
