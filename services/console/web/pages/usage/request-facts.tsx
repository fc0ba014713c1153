import { Anchor, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { UsageRequest } from '../../../contract/usage.ts';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatCount, formatExact, formatDuration, formatMoney, formatUnits } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';
import { programNames, shortenId } from '../sessions/session-figures.ts';
import { Waterfall } from '../requests/waterfall.tsx';

export function RequestFacts({ request }: { request: UsageRequest }) {
  const { id, at, key, owner, format, operation, asked, purpose, rule, model, tier, worker } = request;
  const { outcome, code, attempts, turn, sessionId, recorded } = request;
  const { queueMs, firstTokenMs, totalMs, promptTokens, cachedTokens, completionTokens, reasoningTokens, cost } =
    request;
  const units = formatUnits(request);
  const facts: [string, ReactNode][] = [
    [
      'Request',
      <Anchor key="id" component={Link} href={`/requests/${encodeURIComponent(id)}`} inherit>
        <code>{id}</code>
      </Anchor>,
    ],
    ['Began', formatExact(at)],
    ['Ended', formatExact(at + totalMs)],
    ['Key', key.name],
    ['Owner', owner ? `${owner.name}${owner.kind === 'team' ? ' (team)' : ''}` : 'none (router key)'],
    ['Requested', `${asked}, ${operation} in the ${format} format`],
    ['Purpose', purpose ?? 'unknown'],
    ...(turn && sessionId !== undefined
      ? [
          [
            'Agent session',
            <Anchor key="session" component={Link} href={`/sessions/${sessionId}`} inherit>
              {programNames[turn.program]} {shortenId(turn.session)}
            </Anchor>,
          ] satisfies [string, ReactNode],
        ]
      : []),
    ['Rule', rule ?? 'none'],
    ['Served by', [model, tier && tierNames[tier], worker].filter((part) => part !== undefined).join(' · ') || 'none'],
    ['Outcome', code === undefined ? outcome : `${outcome}: ${code}. ${toErrorSentence(code)}`],
    ['Attempts', formatCount(attempts)],
    ['Time in queue', queueMs === undefined ? 'until the end' : formatDuration(queueMs)],
    ['Time to first token', firstTokenMs === undefined ? 'none' : formatDuration(firstTokenMs)],
    ['Total time', formatDuration(totalMs)],
    ['Input tokens', `${formatCount(promptTokens)}, ${formatCount(cachedTokens)} of them cached`],
    ['Output tokens', `${formatCount(completionTokens)}, ${formatCount(reasoningTokens)} of them reasoning`],
    ...(units === undefined ? [] : [['Other units', units] satisfies [string, ReactNode]]),
    ['Cost', formatMoney(cost)],
    ...(recorded ? [['Recording', 'prompt and answer were recorded'] satisfies [string, ReactNode]] : []),
  ];
  return (
    <>
      <Waterfall request={request} />
      <Table>
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w="8rem">
                {name}
              </Table.Th>
              <Table.Td className="break">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}
