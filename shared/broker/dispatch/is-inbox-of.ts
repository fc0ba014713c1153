import type { Subjects } from '../contract/subjects.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';

/**
 * Whether a subject that a worker wants to be answered at is its own. The broker lets it name any, and an ingress may
 * write where a worker may not.
 */
export function isInboxOf(subjects: Subjects, worker: WorkerAddress | undefined, replyTo: string): boolean {
  return worker !== undefined && replyTo.startsWith(`${subjects.inbox(worker)}.`);
}
