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
  collection: 'keys' | 'teams';
  /** Undefined while the dialog is closed. */
  recordable: Recordable | undefined;
  onClose: () => void;
}

/** A dialog that begins or stops the recording of a key's requests, or of the requests of a team's keys. */
export function SwitchRecording({ collection, recordable, onClose }: SwitchRecordingProps) {
  const change = useChange(
    ({ id, records }: Recordable) =>
      callApi('PATCH', `/${collection}/${encodeURIComponent(id)}`, { records: !records }),
    ['/keys', '/teams', '/recording-switches'],
  );
  const { data: routerFacts } = useApi<RouterFacts>('/about');
  const isRecording = recordable?.records === true;
  return (
    <Confirm
      title={isRecording ? `Stop recording ${recordable.name}?` : `Record the requests of ${recordable?.name ?? ''}?`}
      action={isRecording ? 'Stop recording' : 'Record requests'}
      change={change}
      input={recordable}
      onClose={onClose}
    >
      {isRecording
        ? 'Recordings are kept until they expire; you can delete each one on the page of its request.'
        : 'Prompts and answers are kept for some days, encrypted. Whoever owns the key, or its team, and administrators can read them. Each answer says that it is recorded, and the pages of keys and requests tell those concerned.'}
      {!isRecording && routerFacts?.tracesRecordings ? ` ${tracedSentence}` : null}
    </Confirm>
  );
}
