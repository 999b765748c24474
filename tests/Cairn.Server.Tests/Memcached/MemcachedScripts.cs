namespace Cairn.Server.Tests.Memcached;

/// <summary>Requests that memcached gets too. \n represents a line end.</summary>
internal static class MemcachedScripts
{
    private static readonly IEnumerable<char> s_letters = Enumerable.Range('A', 'z' - 'A' + 1).Select(letter => (char)letter).Where(letter => char.IsAsciiLetter(letter) && letter is not ('E' or 'x')); // Those two came later.

    private static readonly string[] s_more =
    [
        "get " + new string('k', 250) + "\nget " + new string('k', 251) + "\n",
        "get a " + new string('k', 251) + "\n",
        "set " + new string('k', 251) + " 0 0 1\n1\n",
        "set " + new string('k', 250) + " 0 0 1\n1\nget " + new string('k', 250) + "\n",
        "set a 0 0 -1\n",
        "set a b 0 1\n1\n",
        "set a 0 b 1\n1\n",
        "set a 0 0 b\n1\n",
        "set a 0 0 1 x\n1\nset a 0 0 1 x y\n1\n",
        "set a 0 0 1\n1\nset a 0 4294967295 1\n1\nget a\nset b 0 0 1\n1\ntouch b 4294967295\nget b\nset c 0 0 1\n1\nmg c T4294967295 v\nget c\nms d 1 T4294967000\n1\nmg d v\ngat 4294967295 a\nmg e N4294967295 v\nget e\n",
        "set a -1 0 1\n1\nset a 4294967295 0 1\n1\nget a\n",
        "  set  a  0  0  1  \n1\nget   a   b  \n",
        "get\tset\n\t\n",
        "set a 0 0 1\r1\nget a\n",
        "set a 0 0 4\na\nb\nget a\nset b 0 0 2\n\n\nget b\n",
        "set a 0 0 1\n1\nSET a 0 0 1\nGet a\ngets a\n",
        "set a 0 0 1\n1\ncas a 0 0 1\n2\ncas a 0 0 1 x\n2\ncas a 0 0 1 1 noreply\n2\ncas b 0 0 1 1 noreply\n2\n",
        "delete a 0\ndelete a 1\ndelete a 0 noreply\ndelete a x y z\ndelete\n",
        "incr a\nincr a 1 noreply\nincr a -1\nincr a 18446744073709551615\nincr a 18446744073709551616\n",
        "set a 0 0 1\n5\nincr a 1 noreply\nget a\ndecr a 2 noreply\nget a\ndecr a x\ndecr\n",
        "verbosity a\nverbosity 1 noreply\nverbosity\nverbosity 1 2\n",
        "lru_crawler foo\nlru_crawler\nlru_crawler metadump\nlru_crawler sleep x\nlru_crawler tocrawl x\nlru_crawler crawl x\n",
        "lru\nlru bad\nslabs\nslabs x y\nslabs automove 0\nslabs automove x\nslabs automove 3\nslabs automove ratio\nslabs automove ratio 0.5\nslabs reassign x y\nslabs reassign 1 1\nslabs reassign 1 100\nslabs reassign 1\n",
        "lru tune 1 2 3\nlru tune 50 40 0.1 2\nlru tune 1 2 0 2\nlru tune a b 1 2\nlru tune 20 40 0.2 2\nlru mode\nlru mode x\nlru mode segmented\nlru temp_ttl x\nlru temp_ttl -1\n",
        "lru_crawler sleep 1000001\nlru_crawler sleep 100\nlru_crawler tocrawl 0\nlru_crawler metadump x y\n",
        "stats detail\nstats detail foo\nstats foo\nstats reset\nstats sizes\nstats cachedump\nstats extstore\n",
        "stats reset\nstats detail on\nset a:b 0 0 1\n1\nget a:b a:c\ndelete a:b\nget x\nstats detail dump\nstats detail off\n",
        "mg\nms\nmd\nma\nme\nms a\nms a x\nms a 1 Q\n1\nmg a QQ\nmg a v v\nmg a \n",
        "ma a MX\nma a Dx\nma a Jx\nma a N0 Jx\nms a 1 MX\n1\nms a 1 MXX\n1\n",
        "ms a 1 k O1 b\n1\nmg a b\n",
        "md a k O1 q\nma a k O1 q\nms a 1 MR k O1 q\n1\nms a 1 C7 k O1 c\n1\n",
        "ms a S1\n1\nms a 2 T0\nhi\nmg a s v t\nms a 0\n\nmg a v\nmg a s\n",
        "ms a 1 I T30\n1\nmg a v\nms a 2 c I C1\nhi\nms a 2 MA\nhi\nmg a v\n",
        "ms a 5 ME q\nhello\nms a 5 q\nhello\nmg a v q\nmg b v q\nmd b q\nmn\n",
        "ms a 2 b\nhi\nms YQ== 2 b k O9\nhi\nmg YQ== b k v O9\nmg a v\nmd YQ== b q\nmg a\n",
        "ma a N0 J5\nma a MI D2 v\nma a M+ v\nma a M- v\nma a MD D100 v\nma a MX\nma a m v\n",
        "ma a N0 J18446744073709551615 v\nma a v\nma a MD v\nma b N-1 v\nma b\n",
        "me\nme a b c\n",
        "mn x\nmn\nmg a k q O1\nmn\n",
        "flush_all x\nflush_all noreply\nflush_all 0\nflush_all -5\n",
        "set a 0 0 1\n1\nflush_all 0\nadd a 0 0 1\n2\nget a\n",
        "touch a\ntouch a x\ngat\ngat x a\ngats 0 a\ntouch a 0 noreply\n",
        "set a 3 0 1\n1\ngat 0 a a\ngats 100 a b\ntouch a 100\n",
        "shutdown\nshutdown x\nrefresh\nrefresh_certs\n",
        "set a 0 0 30\n5                             \nincr a 10\nget a\n",
        "set a 0 0 4\n1 xx\nincr a 1\nget a\n",
        "set a 0 0 21\n184467440737095516160\nincr a 1\n",
        "set a 0 0 2\n-1\nincr a 1\n",
        "set a 0 0 1\n1\nappend a 9 100 2\n23\nprepend a 9 -1 1\n0\nget a\nappend a 0 0 1 noreply\n4\nget a\n",
        "set a 0 0 1\n1\nquit\nget a\n",
        "POST / HTTP/1.1\n\nget a\n",
        "get /\nput / HTTP/1.1\n",
        "version\nquit x\nversion\nquit noreply\nversion\n",
        "get a\nset a 0 0 5\n123",
        "get a\nge",
        "cache_memlimit\ncache_memlimit x\ncache_memlimit 100 noreply\n",

        // The requests of dalli 3.2 and later.
        "version\nms k 4 c F0 T0 MS\nDune\nmg k v f\nmg k v f c\nmg k v f T100\nmg k v f c T100\nms k 4 c F5 T100 ME\nEmma\nms k 4 c F5 T100 MR\nEmma\nmg k t f v\n",
        "ms k 4 c F0 MS\nDune\nms k 1 MA\nx\nms k 1 T0 MP\ny\nmg k v f\nms l 1 MA\nx\nms l 1 T0 MP\ny\nms k 1 c F0 C1 T0 MS\n1\nms m 1 c F0 C1 T0 MS\n1\nmg k T0\nmg m T0\n",
        "ms k 4 c F0 MS q\nDune\nms l 4 c F0 ME q\nEmma\nmn\nmg k v f k q s\nmg l v f k q s\nmg m v f k q s\nmn\nmd k q\nmd l q\nmd m q\nmn\nmd k\nmd k T10\nmd k C1\n",
        "set n 0 0 1\n1\nma n C0\nms n 1 C0\n2\nmd n C0\nmd n C0 I\nmd n C0 q\nmg n v\nmd n\nmd n C0\n",
        "ma n v D5 J10 N0 MI\nma n v D5 J10 N0 MI\nma n v D100 MD\nma n v D1 N100 MI\nma m v D1 MI\nma m v D1 J0 N0 MD\nmd n\nmd n\nflush_all 0\nflush_all noreply\n",
        "mg a2V5IDE= v f b\nms a2V5IDE= 4 c b F0 T0 MS\nDune\nmg a2V5IDE= v f b k q s\nmg a2V5IDE= v f b T10\nma a2V5IDE= v b D1 MI\nmd a2V5IDE= b\nmd a2V5IDE= b\nstats foo\n",
    ];

    public static IEnumerable<string> All =>
        StorageTests.Scripts.Concat(MetaTests.Scripts).Select(row => (string)row[0]).Where(IsExact).Concat(s_more).Concat(Flags())
            .Select(script => script.Replace("\n", "\r\n", StringComparison.Ordinal));

    // Each letter as a flag of each command, without and with a token.
    private static IEnumerable<string> Flags()
    {
        foreach ((string command, string block) in new[] { ("mg YWE=", ""), ("ms YWE= 1", "1\n"), ("md YWE=", ""), ("ma YWE=", ""), ("mn", ""), ("me YWE=", "") })
        {
            foreach (string token in new[] { "", "1", "x" })
            {
                yield return string.Concat(s_letters.Where(letter => letter != 's' || command[1] != 's').Select(letter => $"{command} {letter}{token}\n{block}md YWE= q\n"));
            }
        }
    }

    // Cairn knows only approximately when an entry was last read.
    private static bool IsExact(string script) =>
        !script.Contains("mg a h", StringComparison.Ordinal) && !script.Contains("me a", StringComparison.Ordinal);
}
