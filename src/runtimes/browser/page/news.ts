/** What the page's worker tells the page, to be shown. */
export type News =
  | { readonly type: 'connected' }
  | { readonly type: 'facts'; readonly facts: Readonly<Record<string, string>> }
  | { readonly type: 'opened'; readonly models: number }
  | { readonly type: 'ended'; readonly reason: string }
