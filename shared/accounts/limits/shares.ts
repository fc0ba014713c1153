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

/** The shares of this node: one for each combination of parties and limits among its requests. */
export class Shares {
  readonly #dependencies: SharesDependencies;
  readonly #times: ShareTimes;
  /** The shares that new requests draw on, by `toShareKey`. */
  readonly #open = new Map<string, Share>();
  /** All shares: the open shares, and older shares that still have running or uncounted requests. */
  readonly #shares = new Set<Share>();
  readonly #sending = new Map<Share, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(dependencies: SharesDependencies, times: ShareTimes) {
    this.#dependencies = dependencies;
    this.#times = times;
    dependencies.redis.on('close', this.#onDisconnect);
  }

  get running(): number {
    return [...this.#shares].reduce((sum, share) => sum + share.running, 0);
  }

  get uncounted(): number {
    return [...this.#shares].reduce((sum, share) => sum + share.uncounted, 0);
  }

  /** Returns the share of parties; undefined after `close`, when each request must call Redis. */
  get(parties: readonly PartyLimits[], now: number): Share | undefined {
    if (this.#isClosed) return undefined;
    const key = toShareKey(parties);
    const open = this.#open.get(key);
    if (open && !open.isOver(now)) return open;
    const share = new Share(parties, this.#times, now);
    this.#open.set(key, share);
    this.#shares.add(share);
    this.#timer ??= setInterval(() => this.#checkShares(), checkEveryMs);
    return share;
  }

  /** Replaces the amount that a request has drawn by its actual use. */
  finish(share: Share, drawn: Amount, spent: Amount): void {
    share.end(drawn, spent);
    if (this.#isClosed) void this.flush();
  }

  /** Releases the free room of a share. Resolves when that is done or has failed. */
  async giveBack(share: Share): Promise<void> {
    await this.#sending.get(share);
    await (share.isReporting || !share.hasRoom ? this.#sending.get(share) : this.#send(share, true));
  }

  /** Makes `get` return no more shares. The caller then calls `flush` until it returns true, so that all room is released. */
  close(): void {
    clearInterval(this.#timer);
    this.#isClosed = true;
  }

  /** Reports all use that was not reported yet, and releases the free room of all shares. Returns whether there was nothing to report. */
  async flush(): Promise<boolean> {
    await Promise.all(this.#sending.values());
    const unflushed = [...this.#shares].filter((share) => share.uncounted > 0 || share.hasRoom || share.isReporting);
    await Promise.all(unflushed.map((share) => this.#sending.get(share) ?? this.#send(share, true)));
    return unflushed.length === 0;
  }

  /** Removes the shares that have neither running nor uncounted requests. The other shares expire. */
  async end(): Promise<void> {
    this.#dependencies.redis.off('close', this.#onDisconnect);
    const unused = [...this.#shares].filter((share) => share.running === 0 && share.uncounted === 0);
    await Promise.all(unused.map((share) => this.#remove(share)));
  }

  readonly #onDisconnect = (): void => {
    for (const share of this.#shares) share.suspend();
  };

  #checkShares(): void {
    const now = performance.now();
    for (const [key, share] of this.#open) if (share.isOver(now) || share.isIdle(now)) this.#open.delete(key);
    for (const share of this.#shares) {
      if (share.isIdle(now)) void this.#remove(share);
      else if (share.isDue(now) && this.#dependencies.redis.status === 'ready') void this.#send(share);
    }
    if (this.#shares.size > 0) return;
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
    this.#shares.delete(share);
    if (!share.isStored) return;
    try {
      await this.#dependencies.remove(share.id);
    } catch (error) {
      // The share has no room reserved, and expires.
      this.#dependencies.log.debug({ err: error }, 'a share of limits could not be removed');
    }
  }
}

const shareKeys = new WeakMap<readonly PartyLimits[], string>();

/** Returns a text that is the same for equal parties and limits. */
function toShareKey(parties: readonly PartyLimits[]): string {
  let key = shareKeys.get(parties);
  if (key === undefined) {
    key = JSON.stringify(parties.map(toScriptParty));
    shareKeys.set(parties, key);
  }
  return key;
}
