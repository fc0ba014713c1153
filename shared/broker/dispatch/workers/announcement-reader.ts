import type { Logger } from '#shared/core/log.ts';
import { decodeAnnouncement, maxAnnouncementBytes, type Announcement } from '../../contract/announcement.ts';
import { isOwnInbox, type Subjects } from '../../contract/subjects.ts';
import { formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';
import type { CredentialModelRules } from './model-claims.ts';
import { OwnerRates } from './owner-rates.ts';
import type { ToolClaims } from './tool-claims.ts';

/**
 * Bytes of announcements that are parsed for an owner. A dispatcher parses `burst` within 0.4 s, and `perSecond` in 5 % of its time. An
 * announcement that is not parsed now is requested again after a later heartbeat. A thousand workers of one owner may come at once.
 */
export const announcementRate = { burst: 4 * 1024 * 1024, perSecond: 512 * 1024, minCost: 4 * 1024 };

const maxLogged = 10;

/** What workers may serve. */
export interface Claims {
  models: Pick<CredentialModelRules, 'mayServe'>;
  tools: Pick<ToolClaims, 'mayServe'>;
}

/** Reads announcements, within bounds for each owner, and checks their worker's address, models and tools. */
export class AnnouncementReader {
  readonly #subjects: Subjects;
  readonly #log: Logger;
  readonly #claims: Claims;
  readonly #rates = new OwnerRates(announcementRate);

  constructor(subjects: Subjects, log: Logger, claims: Claims) {
    this.#subjects = subjects;
    this.#log = log;
    this.#claims = claims;
  }

  /**
   * Parses the announcement of the worker at an address; `late` if the workers of its owner have announced too much lately, undefined if it
   * cannot be parsed.
   */
  read(payload: Uint8Array, address: WorkerAddress): Announcement | 'late' | undefined {
    const worker = formatWorkerId(address);
    const verdict = this.#rates.take(address, payload.length);
    if (verdict === 'report')
      this.#log.error({ worker }, 'the workers of an owner announce too much: they are known late');
    return verdict === 'allowed' ? this.readAgain(payload, address) : 'late';
  }

  /** Parses an announcement that was parsed before. It does not count for the owner's limits. */
  readAgain(payload: Uint8Array, address: WorkerAddress): Announcement | undefined {
    const worker = formatWorkerId(address);
    const announcement = decodeAnnouncement(payload);
    if (!announcement || announcement.worker !== address.worker || announcement.tier !== address.tier) {
      const facts = { worker, bytes: payload.length, maxBytes: maxAnnouncementBytes };
      this.#log.warn(facts, 'an announcement cannot be read, or is too large');
      return undefined;
    }
    // A dispatcher must not be made to publish to any subject but the worker's own inbox.
    if (!isOwnInbox(this.#subjects, address, announcement.offersAt ?? '')) announcement.offersAt = undefined;
    const { leftOut } = announcement;
    if (leftOut !== undefined) this.#log.warn({ worker, leftOut }, 'models or tools without a valid name are left out');
    const { models, tools } = this.#claims;
    const [ownModels, otherModels] = partition(announcement.models, ({ id }) => models.mayServe(address, id));
    const [ownTools, otherTools] = partition(announcement.tools, (tool) => tools.mayServe(address, tool));
    this.#reportRefused(
      worker,
      'models',
      otherModels.map(({ id }) => id),
    );
    this.#reportRefused(
      worker,
      'tools',
      otherTools.map(({ name }) => name),
    );
    return { ...announcement, models: ownModels, tools: ownTools };
  }

  #reportRefused(worker: string, what: 'models' | 'tools', names: readonly string[]): void {
    if (names.length === 0) return;
    const facts = { worker, count: names.length, [what]: names.slice(0, maxLogged) };
    this.#log.error(
      facts,
      `${what} are left out that the credential may not serve: see \`credentials\` in the registry`,
    );
  }
}

/** Splits a list into the accepted elements and the others. */
function partition<Each>(all: readonly Each[], accepts: (each: Each) => boolean): [Each[], Each[]] {
  const parts: [Each[], Each[]] = [[], []];
  for (const each of all) parts[accepts(each) ? 0 : 1].push(each);
  return parts;
}
