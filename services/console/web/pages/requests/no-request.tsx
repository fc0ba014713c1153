import { Text } from '@mantine/core';
import { Link } from 'wouter';
import type { RefusalReport } from '../../../contract/refusals.ts';
import { useApi } from '../../api/use-api.ts';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatExact } from '../../parts/format.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';

const dayMs = 86_400_000;

/**
 * Shown for a request that is not in the ledger. Shows the request if it is among the stored samples of refused requests.
 */
export function NoRequest({ id }: { id: string }) {
  const tomorrow = Math.ceil(Date.now() / dayMs) * dayMs;
  const time = { from: String(tomorrow - 30 * dayMs), to: String(tomorrow) };
  const refusals = useApi<RefusalReport>(`/usage/refusals?${new URLSearchParams(time)}`);
  return (
    <Loaded query={refusals} contentName="the request">
      {({ samples }) => {
        const refusedRequest = samples.find((sample) => sample.id === id);
        if (!refusedRequest) return <UnknownRequest />;
        const { at, status, code, key, model, message } = refusedRequest;
        return (
          <EmptyPanel title="This request was refused">
            <Text size="sm">
              {status} {code}: {message ?? toErrorSentence(code)}
            </Text>
            {[formatExact(at), key && `key ${key.name}`, model && `model ${model}`].filter(Boolean).join(' · ')}. No
            worker was given the request. <Link href="/usage">Usage</Link> shows how many requests were refused.
          </EmptyPanel>
        );
      }}
    </Loaded>
  );
}

function UnknownRequest() {
  return (
    <EmptyPanel title="No request with this id">
      A request appears here a second after its end, for its owner and administrators, as long as the ledger keeps it.
      Requests that were refused before a worker received them are counted under <Link href="/usage">Usage</Link>, and
      samples of them are kept.
    </EmptyPanel>
  );
}
