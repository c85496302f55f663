/// <reference lib="dom" />

interface UserAgentData {
  getHighEntropyValues(hints: readonly string[]): Promise<{
    readonly fullVersionList?: readonly { readonly brand: string; readonly version: string }[]
  }>
}

/** The browser with its full version, as far as it tells. */
export async function browserName(): Promise<string> {
  const data = (navigator as { userAgentData?: UserAgentData }).userAgentData
  const { fullVersionList = [] } = (await data?.getHighEntropyValues(['fullVersionList'])) ?? {}
  // Made-up brands are mixed in so that nobody relies on the order; the browser's own comes besides Chromium's.
  const real = fullVersionList.filter(({ brand }) => !/not.*brand/i.test(brand))
  const own = real.find(({ brand }) => brand !== 'Chromium') ?? real[0]
  return own ? `${own.brand} ${own.version}` : fromUserAgent(navigator.userAgent)
}

function fromUserAgent(text: string): string {
  const [, name, version] = /(Firefox|Edg|Chrome|Version)\/([\d.]+)/.exec(text) ?? []
  return name ? `${name === 'Version' ? 'Safari' : name} ${version}` : text
}
