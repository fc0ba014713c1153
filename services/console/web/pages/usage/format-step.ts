import { getTimeZone } from '../../parts/time-zone.ts';

export type Step = 'hour' | 'day' | 'month';

// The ledger's days and months are days and months in UTC. Only hours can be shown in another time zone.
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const monthFormat = new Intl.DateTimeFormat(undefined, { month: 'short', year: '2-digit', timeZone: 'UTC' });
const hourOptions: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric', hour: 'numeric' };
const hourFormats = {
  local: new Intl.DateTimeFormat(undefined, hourOptions),
  utc: new Intl.DateTimeFormat(undefined, { ...hourOptions, timeZone: 'UTC' }),
};

/** Formats the step that starts at a time. Hours are in the chosen time zone, days and months in UTC. */
export function formatStep(step: Step, at: number): string {
  switch (step) {
    case 'hour':
      return hourFormats[getTimeZone()].format(at);
    case 'day':
      return dayFormat.format(at);
    case 'month':
      return monthFormat.format(at);
  }
}

/** Describes the steps of a chart, for example `each day, in UTC`. */
export function describeStep(step: Step): string {
  return step === 'hour' ? 'each hour' : `each ${step}, in UTC`;
}
