import type { Logger } from '#shared/core/log.ts';
import { decodeAnnouncement, maxAnnouncementBytes, type Announcement } from '../../contract/announcement.ts';
import { isOwnInbox, type Subjects } from '../../contract/subjects.ts';
import { formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';
import type { CredentialModelRules } from './credential-model-rules.ts';
import { CredentialRates } from './credential-rates.ts';
import type { CredentialToolRules } from './credential-tool-rules.ts';

/**
 * Bytes of announcements that are parsed for the workers of one credential: enough for a thousand workers that come at once. A dispatcher
 * parses `burst` within 0.4 s, and `perSecond` in 5 % of its time. An announcement that is not parsed now is requested again after a later
 * heartbeat.
 */
export const announcementRate = { burst: 4 * 1024 * 1024, perSecond: 512 * 1024, minCost: 4 * 1024 };

/** Maximum names in one log line. */
const maxLoggedNames = 10;

/** The rules that say which models and tools a worker may serve. */
export interface ServingRules {
  models: Pick<CredentialModelRules, 'mayServe'>;
  tools: Pick<CredentialToolRules, 'mayServe'>;
}

/** Parses announcements, within limits for each credential, and checks the worker's address, models and tools. */
export class AnnouncementReader {
  readonly #subjects: Subjects;
  readonly #log: Logger;
  readonly #rules: ServingRules;
  readonly #rates = new CredentialRates(announcementRate);

  constructor(subjects: Subjects, log: Logger, rules: ServingRules) {
    this.#subjects = subjects;
    this.#log = log;
    this.#rules = rules;
  }

  /**
   * Parses the announcement of the worker at an address.
   * @returns `late` if the workers of its credential have announced too much lately; undefined if the announcement cannot be parsed or
   * names another worker
   */
  read(payload: Uint8Array, address: WorkerAddress): Announcement | 'late' | undefined {
    const worker = formatWorkerId(address);
    const verdict = this.#rates.use(address, payload.length);
    if (verdict === 'report')
      this.#log.error({ worker }, 'the workers of an owner announce too much: they are known late');
    return verdict === 'allowed' ? this.readAgain(payload, address) : 'late';
  }

  /** Parses an announcement that was parsed before. It does not count towards the limits of the credential. */
  readAgain(payload: Uint8Array, address: WorkerAddress): Announcement | undefined {
    const worker = formatWorkerId(address);
    const announcement = decodeAnnouncement(payload);
    if (!announcement || announcement.worker !== address.worker || announcement.tier !== address.tier) {
      const facts = { worker, bytes: payload.length, maxBytes: maxAnnouncementBytes };
      this.#log.warn(facts, 'an announcement cannot be read, or is too large');
      return undefined;
    }
    // A worker must not make a dispatcher publish offers to any subject outside the worker's own inbox.
    if (!isOwnInbox(this.#subjects, address, announcement.offersAt ?? '')) announcement.offersAt = undefined;
    const { leftOut } = announcement;
    if (leftOut !== undefined) this.#log.warn({ worker, leftOut }, 'models or tools without a valid name are left out');
    const { models, tools } = this.#rules;
    const [allowedModels, refusedModels] = splitBy(announcement.models, ({ id }) => models.mayServe(address, id));
    const [allowedTools, refusedTools] = splitBy(announcement.tools, (tool) => tools.mayServe(address, tool));
    this.#reportRefused(
      worker,
      'models',
      refusedModels.map(({ id }) => id),
    );
    this.#reportRefused(
      worker,
      'tools',
      refusedTools.map(({ name }) => name),
    );
    return { ...announcement, models: allowedModels, tools: allowedTools };
  }

  #reportRefused(worker: string, kind: 'models' | 'tools', names: readonly string[]): void {
    if (names.length === 0) return;
    const facts = { worker, count: names.length, [kind]: names.slice(0, maxLoggedNames) };
    this.#log.error(
      facts,
      `${kind} are left out that the credential may not serve: see \`credentials\` in the registry`,
    );
  }
}

/** Splits a list into the elements for which `accepts` returns true, and the others. */
function splitBy<Element>(list: readonly Element[], accepts: (element: Element) => boolean): [Element[], Element[]] {
  const parts: [Element[], Element[]] = [[], []];
  for (const element of list) parts[accepts(element) ? 0 : 1].push(element);
  return parts;
}
