import { defineTool, z, type OwnTool } from '../own/define-tool.ts';

/**
 * Creates the tool `current_time`.
 * @param now returns the time, in milliseconds since 1970
 */
export function createCurrentTime(now: () => number = Date.now): OwnTool {
  return defineTool({
    name: 'current_time',
    description: 'Returns the current date, time and weekday, in UTC or in a given time zone.',
    input: z.object({
      timezone: z
        .string()
        .min(1)
        .max(64)
        .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Berlin')
        .default('UTC')
        .describe('Name of a time zone in the IANA database, such as Europe/Berlin'),
    }),
    run: ({ timezone }) => {
      const at = new Date(now());
      const time = {
        iso: formatIso(at, timezone),
        timezone,
        weekday: formatWeekday(at, timezone),
        unix_ms: at.getTime(),
      };
      return {
        content: [{ type: 'text', text: `${time.iso} (${time.weekday}, ${timezone})` }],
        structuredContent: time,
      };
    },
  });
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Returns the time in ISO 8601, to the second, with the zone's offset. */
function formatIso(at: Date, timeZone: string): string {
  // The Swedish locale is used because its dates have the form of ISO 8601.
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at);
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(at);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '') || '+00:00';
  return `${local.replace(' ', 'T')}${offset}`;
}

function formatWeekday(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone, weekday: 'long' }).format(at);
}
