import { Skeleton, Stack, VisuallyHidden, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiFailure } from '../api/call-api.ts';
import { Failure } from './failure.tsx';

export interface LoadedProps<Answer> {
  query: UseQueryResult<Answer, ApiFailure>;
  /** The content that loads, for example `the keys`. */
  contentName: string;
  children: (answer: Answer) => ReactNode;
}

/** Renders an answer of the API. Until there is an answer, it renders a placeholder or the failure. */
export function Loaded<Answer>({ query, contentName, children }: LoadedProps<Answer>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error)
    return <Failure title={`Could not load ${contentName}`} error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading contentName={contentName} />;
}

export function Loading({ contentName }: Pick<LoadedProps<never>, 'contentName'>) {
  return (
    <Stack gap="xs" aria-busy="true" role="status">
      <VisuallyHidden>Loading {contentName} …</VisuallyHidden>
      <Skeleton h="1.25rem" w="40%" />
      <Skeleton h="1.25rem" />
      <Skeleton h="1.25rem" w="75%" />
    </Stack>
  );
}

export interface EmptyProps {
  title: string;
  /** The purpose of the list, and how to begin. */
  children?: ReactNode;
  action?: ReactNode;
}

/** The content of an empty list, which says what to do next. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center">
      <Title order={2} size="h3">
        {title}
      </Title>
      <Text component="div" size="sm" c="dimmed" maw="34rem">
        {children}
      </Text>
      {action}
    </Stack>
  );
}

/** The panel of an empty list. */
export function EmptyPanel(props: EmptyProps) {
  return (
    <section className="panel">
      <Empty {...props} />
    </section>
  );
}
