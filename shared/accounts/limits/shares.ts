import type { Redis } from 'ioredis';
import type { Logger } from '#shared/core/log.ts';
import type { PartyLimits } from './limits.ts';
import { toScriptParty, type Amount } from './party-use.ts';
import { Share, type ShareReport, type ShareTimes } from './share.ts';

/** Milliseconds between two checks for shares that have something to report. */
const checkEveryMs = 50;

export interface SharesDependencies {
  redis: Redis;
  /** Runs `lua/share.lua`, and returns its reply. */
  report: (args: ShareReport) => Promise<number[]>;
  remove: (id: string) => Promise<unknown>;
  log: Pick<Logger, 'debug'>;
}

/** The shares of this node, one for each set of parties and limits that requests have. */
export class Shares {
  readonly #dependencies: SharesDependencies;
  readonly #times: ShareTimes;
  /** Shares that requests draw on, by their parties. */
  readonly #open = new Map<string, Share>();
  /** The open shares, and those that wait for their requests to end. */
  readonly #all = new Set<Share>();
  readonly #sending = new Map<Share, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(dependencies: SharesDependencies, times: ShareTimes) {
    this.#dependencies = dependencies;
    this.#times = times;
    dependencies.redis.on('close', this.#onDisconnect);
  }

  get running(): number {
    return [...this.#all].reduce((sum, share) => sum + share.running, 0);
  }

  get uncounted(): number {
    return [...this.#all].reduce((sum, share) => sum + share.uncounted, 0);
  }

  /**
   * Returns the share of parties; undefined after `close`, when each of their requests must call Redis.
   */
  get(parties: readonly PartyLimits[], now: number): Share | undefined {
    if (this.#isClosed) return undefined;
    const key = toShareKey(parties);
    const open = this.#open.get(key);
    if (open && !open.isOver(now)) return open;
    const share = new Share(parties, this.#times, now);
    this.#open.set(key, share);
    this.#all.add(share);
    this.#timer ??= setInterval(() => this.#checkShares(), checkEveryMs);
    return share;
  }

  /** Replaces what a request has drawn by its actual use. */
  finish(share: Share, drawn: Amount, spent: Amount): void {
    share.end(drawn, spent);
    if (this.#isClosed) void this.settle();
  }

  /** Releases the room of a share for requests to come. Resolves when that is done, or has failed. */
  async giveBack(share: Share): Promise<void> {
    await this.#sending.get(share);
    await (share.isReporting || !share.hasRoom ? this.#sending.get(share) : this.#send(share, true));
  }

  /** Makes `get` return no more shares. To be followed by calls of `settle` until it returns true, which releases the room of shares. */
  close(): void {
    clearInterval(this.#timer);
    this.#isClosed = true;
  }

  /** Reports what was not reported yet. Returns whether there was nothing to report. */
  async settle(): Promise<boolean> {
    await Promise.all(this.#sending.values());
    const left = [...this.#all].filter((share) => share.uncounted > 0 || share.hasRoom || share.isReporting);
    await Promise.all(left.map((share) => this.#sending.get(share) ?? this.#send(share, true)));
    return left.length === 0;
  }

  /** Removes the shares without running or uncounted requests. The others expire. */
  async end(): Promise<void> {
    this.#dependencies.redis.off('close', this.#onDisconnect);
    const unused = [...this.#all].filter((share) => share.running === 0 && share.uncounted === 0);
    await Promise.all(unused.map((share) => this.#remove(share)));
  }

  readonly #onDisconnect = (): void => {
    for (const share of this.#all) share.suspend();
  };

  #checkShares(): void {
    const now = performance.now();
    for (const [key, share] of this.#open) if (share.isOver(now) || share.isIdle(now)) this.#open.delete(key);
    for (const share of this.#all) {
      if (share.isIdle(now)) void this.#remove(share);
      else if (share.isDue(now) && this.#dependencies.redis.status === 'ready') void this.#send(share);
    }
    if (this.#all.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #send(share: Share, givesBack = false): Promise<void> {
    const sending = this.#report(share, givesBack).finally(() => this.#sending.delete(share));
    this.#sending.set(share, sending);
    return sending;
  }

  async #report(share: Share, givesBack: boolean): Promise<void> {
    try {
      const reply = await this.#dependencies.report(share.report(performance.now(), givesBack));
      share.confirm(performance.now(), reply);
    } catch (error) {
      share.fail();
      this.#dependencies.log.debug({ err: error }, 'a share of limits could not be reported');
    }
  }

  async #remove(share: Share): Promise<void> {
    this.#all.delete(share);
    if (!share.isStored) return;
    try {
      await this.#dependencies.remove(share.id);
    } catch (error) {
      // The share has no room reserved, and expires.
      this.#dependencies.log.debug({ err: error }, 'a share of limits could not be removed');
    }
  }
}

const keys = new WeakMap<readonly PartyLimits[], string>();

/** Returns parties and limits as a text. */
function toShareKey(parties: readonly PartyLimits[]): string {
  let key = keys.get(parties);
  if (key === undefined) {
    key = JSON.stringify(parties.map(toScriptParty));
    keys.set(parties, key);
  }
  return key;
}
