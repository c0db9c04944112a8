import { existsSync, readFileSync, statSync } from 'node:fs'

/** Links of a page in Markdown to files of the project, and to headings; not those to elsewhere. */
const LINK = /\[[^\]]*\]\((?![a-z]+:)([^)\s]*)\)/g
const FENCED = /^( *)(`{3,}|~{3,})[\s\S]*?^\1\2$/gm

/** The links of a page that lead nowhere. `root` is the folder of the project, `path` leads from there to the page. */
export function deadLinks(page: string, path: string, root: URL): string[] {
  const here = new URL(path, root)
  const targets = Array.from(page.replace(FENCED, '').matchAll(LINK), (match) => String(match[1]))
  return targets.filter((target) => {
    const url = new URL(target, here)
    const heading = decodeURIComponent(url.hash.slice(1))
    url.hash = ''
    // Nothing outside the project comes with it.
    if (!url.href.startsWith(root.href) || !existsSync(url)) return true
    if (heading === '') return false
    const text = url.href === here.href ? page : statSync(url).isFile() ? readFileSync(url, 'utf8') : ''
    return !anchorsOf(text).has(heading)
  })
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of page.replace(FENCED, '').matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-')
    let n = 0
    while (anchors.has(n === 0 ? slug : `${slug}-${n}`)) n += 1
    anchors.add(n === 0 ? slug : `${slug}-${n}`)
  }
  return anchors
}
