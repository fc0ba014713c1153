import type { ServerContext } from '@modelcontextprotocol/server';
import type { Logger } from '#shared/core/log.ts';
import type { ToolProgress } from '#shared/formats/tools/tool-result.ts';

/** Reports the progress of a call to its client, in order, if the client sent a progress token. */
export class ProgressReporter {
  readonly isWanted: boolean;
  readonly #request: ServerContext['mcpReq'];
  readonly #log: Logger;
  #sent: Promise<void> = Promise.resolve();

  constructor(request: ServerContext['mcpReq'], log: Logger) {
    this.isWanted = request._meta?.progressToken !== undefined;
    this.#request = request;
    this.#log = log;
  }

  /** Resolves when all reports so far are sent. The result of the call ends the stream, so the result must not be sent earlier. */
  get sent(): Promise<void> {
    return this.#sent;
  }

  readonly report = (progress: ToolProgress): void => {
    this.#sent = this.#sent
      .then(() => this.#notify(progress))
      .catch((error: unknown) => this.#log.debug({ err: error }, 'progress was not reported'));
  };

  async #notify(progress: ToolProgress): Promise<void> {
    const progressToken = this.#request._meta?.progressToken;
    if (progressToken === undefined) return;
    await this.#request.notify({ method: 'notifications/progress', params: { progressToken, ...progress } });
  }
}
