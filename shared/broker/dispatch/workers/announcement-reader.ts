import type { Logger } from '#shared/core/log.ts';
import { decodeAnnouncement, maxAnnouncementBytes, type Announcement } from '../../contract/announcement.ts';
import { isInboxOf, type Subjects } from '../../contract/subjects.ts';
import { workerIdOf, type WorkerAddress } from '../../contract/worker-address.ts';
import { AnnouncementRates } from './announcement-rates.ts';

/** Reads announcements, within bounds for each owner, and checks what they say of their worker's address. */
export class AnnouncementReader {
  readonly #subjects: Subjects;
  readonly #log: Logger;
  readonly #rates = new AnnouncementRates();

  constructor(subjects: Subjects, log: Logger) {
    this.#subjects = subjects;
    this.#log = log;
  }

  /** What the worker at an address announces: `late` if its owner has announced too much lately, undefined if it cannot be read. */
  read(payload: Uint8Array, address: WorkerAddress): Announcement | 'late' | undefined {
    const worker = workerIdOf(address);
    const verdict = this.#rates.take(address, payload.length);
    if (verdict === 'report')
      this.#log.error({ worker }, 'the workers of an owner announce too much: they are known late');
    if (verdict !== 'read') return 'late';
    const announcement = decodeAnnouncement(payload);
    if (!announcement || announcement.worker !== address.worker || announcement.tier !== address.tier) {
      const facts = { worker, bytes: payload.length, maxBytes: maxAnnouncementBytes };
      this.#log.warn(facts, 'an announcement cannot be read, or is too large');
      return undefined;
    }
    // An ingress must not be made to publish anywhere else.
    if (!isInboxOf(this.#subjects, address, announcement.offersAt ?? '')) announcement.offersAt = undefined;
    const { leftOut } = announcement;
    if (leftOut !== undefined) this.#log.warn({ worker, leftOut }, 'models or tools without a valid name are left out');
    return announcement;
  }
}
