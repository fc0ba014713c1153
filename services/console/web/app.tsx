import { MantineProvider } from '@mantine/core';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { Suspense, useEffect } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { providerAway } from '../contract/sign-in.ts';
import { ApiFailure } from './api/call-api.ts';
import { fetchSession, sessionKey, SessionContext } from './api/session.ts';
import { queryClient } from './api/use-api.ts';
import { Failure } from './parts/failure.tsx';
import { createLazyCode } from './parts/lazy-code.tsx';
import { Loading } from './parts/loaded.tsx';
import { useRequestedPage } from './parts/use-requested-page.ts';
import { ErrorBoundary } from './shell/error-boundary.tsx';
import { Frame } from './shell/frame.tsx';
import { Shell } from './shell/shell.tsx';
import { cssVariables, theme } from './theme.ts';

const { Code: LinkPage } = createLazyCode(
  () => import('./pages/link-page.tsx'),
  ({ LinkPage }) => LinkPage,
);
const { Code: SignIn } = createLazyCode(
  () => import('./pages/sign-in.tsx'),
  ({ SignIn }) => SignIn,
);

/**
 * The console.
 * @param nonce for style elements that are made at run time
 */
export function App({ nonce }: { nonce: string }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <AppRoutes />
      </QueryClientProvider>
    </MantineProvider>
  );
}

function AppRoutes() {
  const [location] = useLocation();
  return (
    <ErrorBoundary url={location}>
      <Suspense
        fallback={
          <Frame>
            <Loading contentName="the page" />
          </Frame>
        }
      >
        <Switch>
          <Route path="/link/:token">{({ token }) => <LinkPage token={token} />}</Route>
          <Route>
            <PagesOrSignIn />
          </Route>
        </Switch>
      </Suspense>
    </ErrorBoundary>
  );
}

/** Shows the pages or, without a session, the sign-in, which then leads to the requested page. */
function PagesOrSignIn() {
  const {
    data: session,
    error,
    refetch,
  } = useQuery({
    queryKey: sessionKey,
    queryFn: fetchSession,
    staleTime: 60_000,
    // Somebody else may have signed in meanwhile, in another tab.
    refetchOnWindowFocus: 'always',
  });
  const [, go] = useLocation();
  const { to, reason } = useRequestedPage();
  const hasOldFailure = Boolean(session) && reason !== null;
  useEffect(() => {
    // The reason of a failed sign-in leaves the URL of a signed-in person, so that it does not appear after they have signed out.
    if (hasOldFailure) go(to, { replace: true });
  }, [hasOldFailure, go, to]);
  if (session) {
    return (
      <SessionContext value={session}>
        {/* The key removes all state of the previous person's pages. */}
        <Shell key={session.user.id} />
      </SessionContext>
    );
  }
  if (session === null) return <SignIn />;
  if (error instanceof ApiFailure && error.code === providerAway) {
    return <SignIn sessionFailure={{ error, onRetry: () => void refetch() }} />;
  }
  return (
    <Frame>
      {error ? (
        <Failure title="The console could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading contentName="the console" />
      )}
    </Frame>
  );
}
