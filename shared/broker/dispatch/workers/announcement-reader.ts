import type { Logger } from '#shared/core/log.ts';
import { decodeAnnouncement, maxAnnouncementBytes, type Announcement } from '../../contract/announcement.ts';
import { isInboxOf, type Subjects } from '../../contract/subjects.ts';
import { workerIdOf, type WorkerAddress } from '../../contract/worker-address.ts';
import { AnnouncementRates } from './announcement-rates.ts';
import type { ModelClaims } from './model-claims.ts';

const maxLogged = 10;

/** Parses announcements, within limits for each owner, and checks their worker's address and models. */
export class AnnouncementReader {
  readonly #subjects: Subjects;
  readonly #log: Logger;
  readonly #claims: Pick<ModelClaims, 'mayServe'>;
  readonly #rates = new AnnouncementRates();

  constructor(subjects: Subjects, log: Logger, claims: Pick<ModelClaims, 'mayServe'>) {
    this.#subjects = subjects;
    this.#log = log;
    this.#claims = claims;
  }

  /**
   * Parses the announcement of the worker at an address; `late` if its owner has announced too much lately, undefined if it cannot be
   * parsed.
   */
  read(payload: Uint8Array, address: WorkerAddress): Announcement | 'late' | undefined {
    const worker = workerIdOf(address);
    const verdict = this.#rates.take(address, payload.length);
    if (verdict === 'report')
      this.#log.error({ worker }, 'the workers of an owner announce too much: they are known late');
    return verdict === 'read' ? this.readAgain(payload, address) : 'late';
  }

  /** Parses an announcement that was parsed before. It does not count for the owner's limits. */
  readAgain(payload: Uint8Array, address: WorkerAddress): Announcement | undefined {
    const worker = workerIdOf(address);
    const announcement = decodeAnnouncement(payload);
    if (!announcement || announcement.worker !== address.worker || announcement.tier !== address.tier) {
      const facts = { worker, bytes: payload.length, maxBytes: maxAnnouncementBytes };
      this.#log.warn(facts, 'an announcement cannot be read, or is too large');
      return undefined;
    }
    // A dispatcher must not be made to publish to any subject but the worker's own inbox.
    if (!isInboxOf(this.#subjects, address, announcement.offersAt ?? '')) announcement.offersAt = undefined;
    const { leftOut } = announcement;
    if (leftOut !== undefined) this.#log.warn({ worker, leftOut }, 'models or tools without a valid name are left out');
    const models = announcement.models.filter(({ id }) => this.#claims.mayServe(address, id));
    const count = announcement.models.length - models.length;
    if (count === 0) return announcement;
    const refused = announcement.models.filter((model) => !models.includes(model)).map(({ id }) => id);
    const facts = { worker, count, models: refused.slice(0, maxLogged) };
    this.#log.error(facts, 'models are left out that the credential may not serve: see `credentials` in the registry');
    return { ...announcement, models };
  }
}
