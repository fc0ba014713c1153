import { describe, expect, it } from 'vitest';
import { createCurrentTime } from '#services/tools-worker/tools/current-time.ts';

const context = { signal: new AbortController().signal, progress: () => undefined };
const newYear = Date.UTC(2026, 0, 1, 0, 30, 15, 999);

describe('the tool for the current time', () => {
  it.each([
    { timezone: 'UTC', iso: '2026-01-01T00:30:15+00:00', weekday: 'Thursday' },
    { timezone: 'Europe/Berlin', iso: '2026-01-01T01:30:15+01:00', weekday: 'Thursday' },
    { timezone: 'America/New_York', iso: '2025-12-31T19:30:15-05:00', weekday: 'Wednesday' },
    { timezone: 'Asia/Kathmandu', iso: '2026-01-01T06:15:15+05:45', weekday: 'Thursday' },
  ])('is $iso in $timezone', async ({ timezone, iso, weekday }) => {
    const output = await createCurrentTime(() => newYear).run({ timezone }, context);
    expect(output.structuredContent).toEqual({ iso, timezone, weekday, unix_ms: newYear });
    expect(output.content).toEqual([{ type: 'text', text: `${iso} (${weekday}, ${timezone})` }]);
  });

  it('is in UTC by default', async () => {
    const output = await createCurrentTime(() => newYear).run({}, context);
    expect(output.structuredContent).toMatchObject({ timezone: 'UTC' });
  });

  it('refuses a zone that does not exist', async () => {
    await expect(createCurrentTime().run({ timezone: 'Mars/Olympus' }, context)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'input.timezone',
    });
  });
});
