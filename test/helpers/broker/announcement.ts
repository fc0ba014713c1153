import type { Announcement } from '#shared/broker/contract/announcement.ts';

/** Returns the announcement of an idle worker of the GPU tier, with these facts replaced. */
export function announcementOf(facts: Partial<Announcement> = {}): Announcement {
  return {
    v: 1,
    worker: 'w',
    tier: 'gpu',
    pool: 'p',
    models: [],
    tools: [],
    formats: ['chat'],
    slots: 4,
    busy: 0,
    accepting: true,
    version: '0',
    startedAt: 1,
    ...facts,
  };
}
