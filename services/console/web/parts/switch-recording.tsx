import type { RouterFacts } from '../../contract/live.ts';
import { callApi } from '../api/call-api.ts';
import { useApi, useChange } from '../api/use-api.ts';
import { Confirm } from './confirm.tsx';
import { tracedSentence } from './recording-notice.tsx';

export interface Recordable {
  id: string;
  name: string;
  records: boolean;
}

export interface SwitchRecordingProps {
  of: 'keys' | 'teams';
  /** Undefined while the dialog is closed. */
  switched: Recordable | undefined;
  onClose: () => void;
}

/** Asks whether to begin or to stop recording the requests of a key or of a team's keys, and does so. */
export function SwitchRecording({ of, switched, onClose }: SwitchRecordingProps) {
  const change = useChange(
    ({ id, records }: Recordable) => callApi('PATCH', `/${of}/${encodeURIComponent(id)}`, { records: !records }),
    ['/keys', '/teams', '/recording-switches'],
  );
  const { data: routerFacts } = useApi<RouterFacts>('/about');
  const isOn = switched?.records === true;
  return (
    <Confirm
      title={isOn ? `Stop recording ${switched.name}?` : `Record the requests of ${switched?.name ?? ''}?`}
      action={isOn ? 'Stop recording' : 'Record requests'}
      change={change}
      input={switched}
      onClose={onClose}
    >
      {isOn
        ? 'What was recorded is kept until it expires; delete it on the page of each request.'
        : 'Prompts and answers are kept for some days, encrypted. Whoever owns the key, or its team, and administrators can read them. Each answer says that it is recorded, and the pages of keys and requests tell those concerned.'}
      {!isOn && routerFacts?.tracesRecordings ? ` ${tracedSentence}` : null}
    </Confirm>
  );
}
