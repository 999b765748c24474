// The site renders README.md, the documents it leads to and the READMEs of samples, as they lie in the repository.
//
// A link from a document to another file, such as a sample's source, leads to a copy of it in the site: files that were linked are collected
// while pages are rendered, and copied at the end of the build. Links to documents and headings are checked by VitePress and by DocumentTests.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')
const pageOf = document => '/' + document.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '')
const linkedFiles = new Set()

// docs/README.md lists the documents under a heading for each subject. The sidebar is that list. VitePress opens the group of the page that is shown.
function sidebar() {
  const groups = []
  for (const line of readFileSync(join(root, 'docs/README.md'), 'utf8').split('\n')) {
    const heading = /^\*\*(.+)\*\*$/.exec(line)
    if (heading) groups.push({ text: heading[1], collapsed: groups.length > 0, items: [] })
    for (const [, text, link] of line.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)) {
      groups.at(-1).items.push({ text: text.startsWith('memcached') ? text : text[0].toUpperCase() + text.slice(1), link: pageOf(relative(root, resolve(root, 'docs', link))) })
    }
  }
  return groups
}

// As forges make them: links in the documents lead to these, and DocumentTests checks them.
const anchorOf = heading => heading.trim().toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-')

// Browsers show a text, and would download what they do not know.
const copyOf = file => `${file}${statSync(join(root, file)).isDirectory() ? '/files' : ''}.txt`

function followLinks(markdown) {
  const render = markdown.renderer.rules.link_open
  markdown.renderer.rules.link_open = (tokens, index, options, environment, self) => {
    const href = tokens[index].attrGet('href')
    if (!/^([a-z]+:|[#/])/.test(href)) {
      const [path, anchor] = href.split('#')
      const target = relative(root, resolve(root, dirname(environment.relativePath), decodeURI(path)))
      const readme = join(target, 'README.md')
      if (existsSync(join(root, readme))) {
        tokens[index].attrSet('href', pageOf(readme) + (anchor ? `#${anchor}` : ''))
      } else if (target.endsWith('.md')) {
        tokens[index].attrSet('href', pageOf(target) + (anchor ? `#${anchor}` : ''))
      } else if (existsSync(join(root, target))) {
        linkedFiles.add(target)
        tokens[index].attrSet('href', '/' + copyOf(target))
        tokens[index].attrSet('target', '_blank')
      }
    }
    return render(tokens, index, options, environment, self)
  }
}

// A long name in code can break before its capital letters, so that a table with names fits the screen of a phone.
function breakNames(markdown) {
  const render = markdown.renderer.rules.code_inline
  markdown.renderer.rules.code_inline = (...parameters) =>
    render(...parameters).replace(/>([^<]*)</, (_, text) => `>${text.replace(/([a-z\d])(?=[A-Z])/g, '$1<wbr>')}<`)
}

// The first page is README.md below a header, which repeats its first sentence. The title and the logo are in the header.
function withHeader(page) {
  if (page.relativePath !== 'index.md') return
  const sentence = /^Cairn is [^]*?\n\n/m.exec(readFileSync(join(root, 'README.md'), 'utf8'))[0].replace(/\s+/g, ' ').trim()
  Object.assign(page.frontmatter, {
    layout: 'home',
    hero: {
      name: 'Cairn',
      text: 'A cache that processes share',
      tagline: sentence.replaceAll('`', ''),
      image: { src: '/icon.svg', alt: 'Four stones, each resting on the one below' },
      actions: [
        { theme: 'brand', text: 'Tutorial', link: '/docs/tutorial' },
        { theme: 'alt', text: 'All documents', link: '/docs/' },
        { theme: 'alt', text: 'Beside other caches', link: '/docs/compare/' }
      ]
    }
  })
}

function dropTitle(markdown) {
  markdown.core.ruler.push('drop_title', ({ tokens, env }) => {
    if (env.relativePath !== 'index.md' || tokens[0]?.tag !== 'h1') return
    tokens.splice(0, tokens.findIndex(token => token.content.startsWith('Cairn is')) + 2)
  })
}

// Pages lie outside of the folder that has the packages.
const packagesForPages = {
  name: 'packages-for-pages',
  enforce: 'pre',
  resolveId(id, importer) {
    if (id.startsWith('vue') && importer?.endsWith('.md')) return this.resolve(id, fileURLToPath(import.meta.url))
  }
}

export default defineConfig({
  title: 'Cairn',
  description: 'A cache in one memory-mapped file',
  srcDir: '../..',
  outDir: '../../artifacts/site',
  cacheDir: '../../artifacts/site-cache',
  srcExclude: ['artifacts/**', 'bench/**', 'src/**', 'tests/**', '**/bin/**', '**/obj/**', '**/node_modules/**'],
  rewrites: id => id.replace(/(^|\/)README\.md$/, '$1index.md'),
  markdown: { config: markdown => [followLinks, breakNames, dropTitle].forEach(rule => rule(markdown)), anchor: { slugify: anchorOf } },
  vite: { plugins: [packagesForPages] },
  transformPageData: withHeader,
  head: [['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }]],
  themeConfig: {
    logo: '/icon.svg',
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Documents', link: '/docs/' },
      { text: 'Compare', link: '/docs/compare/' },
      { text: 'Benchmarks', link: '/docs/benchmarks' },
      { text: 'Changes', link: '/CHANGELOG' }
    ],
    sidebar: sidebar()
  },
  buildEnd({ outDir }) {
    linkedFiles.add('docs/images/icon.svg')
    for (const file of linkedFiles) {
      const source = join(root, file)
      const target = join(outDir, file.endsWith('icon.svg') ? 'icon.svg' : copyOf(file))
      mkdirSync(dirname(target), { recursive: true })
      if (statSync(source).isDirectory()) writeFileSync(target, readdirSync(source).join('\n') + '\n')
      else copyFileSync(source, target)
    }
  }
})
