namespace Cairn.Protocol;

/// <summary>Each form of request, and each error. The expected errors are replies of memcached 1.6.18.</summary>
public class MemcachedReaderTests
{
    private static readonly string LongestKey = new('k', MemcachedReader.MaxKeyBytes);

    public static TheoryData<string, string> Requests => new()
    {
        // Retrieval.
        { "get a\r\n", "Get key=a" },
        { "get a\n", "Get key=a" },
        { "get a \r\n", "Get key=a" },
        { "  get   a  b \r\n", "Get key=a b" },
        { "get a b c\r\n", "Get key=a b c" },
        { "bget a\r\n", "Get key=a" },
        { "gets a\r\n", "Gets key=a" },
        { "gets a b\r\n", "Gets key=a b" },
        { "gat 10 a\r\n", "Gat key=a exptime=10" },
        { "gat -1 a b\r\n", "Gat key=a b exptime=-1" },
        { "gat 10\r\n", "Gat exptime=10" },
        { "gats 0 a\r\n", "Gats key=a" },
        { "get a\tb\r\n", "Get key=a\tb" },
        { "get a\rb\r\n", "Get key=a\rb" },
        { "get \xE9\r\n", "Get key=\xE9" },

        // Storage.
        { "set a 0 0 1\r\nx\r\n", "Set key=a value=x" },
        { "set a 0 0 0\r\n\r\n", "Set key=a value=" },
        { "set a 0 0 1\nx\r\n", "Set key=a value=x" },
        { "set a 7 60 3 noreply\r\n\r\n\r\r\n", "Set key=a flags=7 exptime=60 noreply value=\r\n\r" },
        { "set a 4294967295 -1 1\r\nx\r\n", "Set key=a flags=4294967295 exptime=-1 value=x" },
        { "set a +5 0 1\r\nx\r\n", "Set key=a flags=5 value=x" },
        { "set a 5\t6 0 1\r\nx\r\n", "Set key=a flags=5 value=x" },
        { "set a -0 \t9 01\r\nx\r\n", "Set key=a exptime=9 value=x" },
        { "set a 0 2147483648 1\r\nx\r\n", "Set key=a exptime=2147483648 value=x" },
        { "set a 0 4292375295 1\r\nx\r\n", "Set key=a exptime=4292375295 value=x" },
        { "set a 0 4292375296 1\r\nx\r\n", "Set key=a exptime=-2592000 value=x" },
        { "set a 0 4294967295 1\r\nx\r\n", "Set key=a exptime=-1 value=x" },
        { "set a 0 4294967296 1\r\nx\r\n", "Set key=a exptime=4294967296 value=x" },
        { "set a 0 0 1 anything\r\nx\r\n", "Set key=a value=x" },
        { " set a 0 0 1\r\nx\r\n", "Set key=a value=x" },
        { "add a 1 2 3\r\nabc\r\n", "Add key=a flags=1 exptime=2 value=abc" },
        { "replace a 1 2 3 noreply\r\nabc\r\n", "Replace key=a flags=1 exptime=2 noreply value=abc" },
        { "append a 0 0 1\r\nx\r\n", "Append key=a value=x" },
        { "prepend a 0 0 1\r\nx\r\n", "Prepend key=a value=x" },
        { "cas a 1 2 1 77\r\nx\r\n", "Cas key=a flags=1 exptime=2 version=77 value=x" },
        { "cas a 0 0 1 77 noreply\r\nx\r\n", "Cas key=a version=77 noreply value=x" },
        { "cas a 0 0 1 77 anything\r\nx\r\n", "Cas key=a version=77 value=x" },

        // The commands that change an entry.
        { "delete a\r\n", "Delete key=a a" },
        { "delete a 0\r\n", "Delete key=a a 0" },
        { "delete a noreply\r\n", "Delete key=a a noreply noreply" },
        { "delete a 0 noreply\r\n", "Delete key=a a 0 noreply noreply" },
        { "incr a 5\r\n", "Incr key=a a 5 delta=5" },
        { "incr a 1\t2\r\n", "Incr key=a a 1\t2 delta=1" },
        { "decr a 5 noreply\r\n", "Decr key=a a 5 noreply delta=5 noreply" },
        { "touch a 60\r\n", "Touch key=a a 60 exptime=60" },
        { "touch a 60 noreply\r\n", "Touch key=a a 60 noreply exptime=60 noreply" },

        // Meta commands.
        { "mg a\r\n", "MetaGet key=a delta=1" },
        { "mg a v\r\n", "MetaGet key=a v delta=1 has=ReturnValue" },
        { "mg a  v \r\n", "MetaGet key=a v delta=1 has=ReturnValue" },
        { "mg a s t\r\n", "MetaGet key=a s t delta=1 has=ReturnSize, ReturnTimeToLive" },
        { "mg a N30 R10 T-5\r\n", "MetaGet key=a N30 R10 T-5 exptime=-5 delta=1 vivify=30 recache=10 has=Vivify, Recache, TimeToLive" },
        { "mg a O123 q k\r\n", "MetaGet key=a O123 q k delta=1 has=Opaque, ReturnKey, Quiet opaque=123" },
        { "mg a Oxyz Pp Ll u h l c f\r\n", "MetaGet key=a Oxyz Pp Ll u h l c f delta=1 has=ProxyPathL, Opaque, ProxyPathP, ReturnVersion, ReturnClientFlags, ReturnHit, ReturnLastAccess, NoUpdate opaque=xyz" },
        { "mg YQ== b v\r\n", "MetaGet key=YQ== b v delta=1 has=Base64Key, ReturnValue" },
        { "mg a MX\r\n", "MetaGet key=a MX delta=1 mode=X has=Mode" },
        { "ms a 1\r\nx\r\n", "MetaSet key=a delta=1 value=x" },
        { "ms a 2 T60 F5 C9 I ME\r\nxy\r\n", "MetaSet key=a T60 F5 C9 I ME flags=5 exptime=60 version=9 delta=1 mode=E has=CompareVersion, ClientFlags, Invalidate, Mode, TimeToLive value=xy" },
        { "ms a 1 q O1\r\nx\r\n", "MetaSet key=a q O1 delta=1 has=Opaque, Quiet opaque=1 value=x" },
        { "md a I T5 q\r\n", "MetaDelete key=a I T5 q exptime=5 delta=1 has=Invalidate, TimeToLive, Quiet" },
        { "ma a\r\n", "MetaArithmetic key=a delta=1 mode=I" },
        { "ma a D5 J7 N0 M- v t\r\n", "MetaArithmetic key=a D5 J7 N0 M- v t delta=5 initial=7 mode=D has=Delta, InitialValue, Mode, Vivify, ReturnTimeToLive, ReturnValue" },
        { "ma a M+\r\n", "MetaArithmetic key=a M+ delta=1 mode=I has=Mode" },
        { "me a\r\n", "MetaDebug key=a" },
        { "me YQ== b\r\n", "MetaDebug key=YQ== b has=Base64Key" },
        { "mn\r\n", "MetaNoop" },
        { "mn anything\r\n", "MetaNoop anything" },

        // The server.
        { "flush_all\r\n", "FlushAll" },
        { "flush_all noreply\r\n", "FlushAll noreply noreply" },
        { "flush_all 10 noreply\r\n", "FlushAll 10 noreply exptime=10 noreply" },
        { "flush_all 1 2\r\n", "FlushAll 1 2 exptime=1" },
        { "version\r\n", "Version" },
        { "version anything\r\n", "Version anything" },
        { "verbosity 2\r\n", "Verbosity 2 delta=2" },
        { "cache_memlimit 64 noreply\r\n", "CacheMemlimit 64 noreply delta=64 noreply" },
        { "stats\r\n", "Stats" },
        { "stats detail on\r\n", "Stats detail on" },
        { "lru_crawler metadump all\r\n", "LruCrawler metadump all" },
        { "lru mode flat\r\n", "Lru mode flat" },
        { "slabs automove 1\r\n", "Slabs automove 1" },
        { "slabs automove 1 noreply\r\n", "Slabs automove 1 noreply noreply" },
        { "slabs noreply\r\n", "Slabs noreply" },
        { "watch evictions\r\n", "Watch evictions" },
        { "refresh_certs\r\n", "RefreshCerts" },
        { "shutdown graceful\r\n", "Shutdown graceful" },
        { "quit\r\n", "Quit" },
    };

    public static TheoryData<string, string> Errors => new()
    {
        { "\r\n", "Malformed UnknownCommand consumed=2" },
        { "\n", "Malformed UnknownCommand consumed=1" },
        { " \r\n", "Malformed UnknownCommand consumed=3" },
        { "x\r\n", "Malformed UnknownCommand consumed=3" },
        { "VERSION\r\n", "Malformed UnknownCommand consumed=9" },
        { "versionx\r\n", "Malformed UnknownCommand consumed=10" },
        { "get\r\n", "Malformed UnknownCommand consumed=5" },
        { "get \r\n", "Malformed UnknownCommand consumed=6" },
        { "gat\r\n", "Malformed UnknownCommand consumed=5" },
        { "gat x a\r\n", "Malformed InvalidExpiration consumed=9" },
        { "get a\0b\r\n", "Malformed BadCommandLineFormat consumed=9" },
        { "set a 0 0\r\nx\r\n", "Malformed UnknownCommand consumed=11" },
        { "set a 0 0 1 2 3\r\nx\r\n", "Malformed UnknownCommand consumed=17" },
        { "set a 0 0 -1\r\nx\r\n", "Malformed BadCommandLineFormat consumed=14" },
        { "set a -1 0 1\r\nx\r\n", "Malformed BadCommandLineFormat consumed=14" },
        { "set a 4294967296 0 1\r\nx\r\n", "Malformed BadCommandLineFormat consumed=22" },
        { "set a 5x 0 1\r\nx\r\n", "Malformed BadCommandLineFormat consumed=14" },
        { "set a 0 0x 1\r\nx\r\n", "Malformed BadCommandLineFormat consumed=14" },
        { "set a 0 0 2147483646\r\n", "Malformed BadCommandLineFormat consumed=22" },
        { "set a 0 0 99999999999999999999\r\n", "Malformed BadCommandLineFormat consumed=32" },
        { "set a abc 0 1 noreply\r\n", "Malformed BadCommandLineFormat unsaid consumed=23" },
        { "set a 0 0 noreply\r\n", "Malformed BadCommandLineFormat unsaid consumed=19" },
        { "set a 0 0 1\r\nxyz\r\n", "Malformed BadDataChunk consumed=16" },
        { "set a 0 0 1\r\nx\n\n", "Malformed BadDataChunk consumed=16" },
        { "set a 0 0 2 noreply\r\nxxx\r\n", "Malformed BadDataChunk unsaid consumed=25" },
        { "cas a 0 0 1\r\nx\r\n", "Malformed UnknownCommand consumed=13" },
        { "cas a 0 0 1 x\r\nx\r\n", "Malformed BadCommandLineFormat consumed=15" },
        { "cas a 0 0 1 -1\r\nx\r\n", "Malformed BadCommandLineFormat consumed=16" },
        { "delete\r\n", "Malformed UnknownCommand consumed=8" },
        { "delete a 1\r\n", "Malformed BadDeleteFormat consumed=12" },
        { "delete a 5 noreply\r\n", "Malformed BadDeleteFormat unsaid consumed=20" },
        { "delete a 0 0 0\r\n", "Malformed UnknownCommand consumed=16" },
        { "incr a\r\n", "Malformed UnknownCommand consumed=8" },
        { "incr a x\r\n", "Malformed InvalidDelta consumed=10" },
        { "incr a -1\r\n", "Malformed InvalidDelta consumed=11" },
        { "incr a 18446744073709551616\r\n", "Malformed InvalidDelta consumed=29" },
        { "decr a x noreply\r\n", "Malformed InvalidDelta unsaid consumed=18" },
        { "touch a\r\n", "Malformed UnknownCommand consumed=9" },
        { "touch a x\r\n", "Malformed InvalidExpiration consumed=11" },
        { "touch a 10 20 30\r\n", "Malformed UnknownCommand consumed=18" },
        { "flush_all x\r\n", "Malformed InvalidExpiration consumed=13" },
        { "flush_all 1 2 3\r\n", "Malformed UnknownCommand consumed=17" },
        { "verbosity\r\n", "Malformed UnknownCommand consumed=11" },
        { "verbosity x\r\n", "Malformed BadCommandLineFormat consumed=13" },
        { "verbosity -1\r\n", "Malformed BadCommandLineFormat consumed=14" },
        { "cache_memlimit x\r\n", "Malformed UnknownCommand consumed=18" },
        { "lru\r\n", "Malformed UnknownCommand consumed=5" },
        { "mg\r\n", "Malformed UnknownCommand consumed=4" },
        { "mx a\r\n", "Malformed UnknownCommand consumed=6" },
        { "mg a z\r\n", "Malformed InvalidFlag consumed=8" },
        { "mg a 1\r\n", "Malformed InvalidFlag consumed=8" },
        { "mg a S1 k\r\n", "Malformed InvalidFlag consumed=11" },
        { "mg a v v\r\n", "Malformed DuplicateFlag consumed=10" },
        { "mg a \x7F\r\n", "Malformed DuplicateFlag consumed=8" },
        { "mg a \x80\r\n", "Malformed DuplicateFlag consumed=8" },
        { "mg a Tx\r\n", "Malformed BadToken consumed=9" },
        { "mg a T\r\n", "Malformed BadToken consumed=8" },
        { "mg a Nx\r\n", "Malformed BadToken consumed=9" },
        { "mg a Rx\r\n", "Malformed BadToken consumed=9" },
        { "mg a Cx\r\n", "Malformed BadToken consumed=9" },
        { "mg a Fx\r\n", "Malformed BadCommandLineFormat consumed=9" },
        { "mg a Tx Fx\r\n", "Malformed BadToken consumed=12" },
        { "mg a Tx z\r\n", "Malformed InvalidFlag consumed=11" },
        { "mg a Tx Cx MXX\r\n", "Malformed BadModeLength consumed=16" },
        { "mg a M\r\n", "Malformed BadModeLength consumed=8" },
        { "mg a Jx\r\n", "Malformed InvalidInitialValue consumed=9" },
        { "mg a Dx\r\n", "Malformed InvalidDeltaValue consumed=9" },
        { "mg YQ b\r\n", "Malformed BadBase64Key consumed=9" },
        { "mg ==== b\r\n", "Malformed BadBase64Key consumed=11" },
        { "mg Y!Q== b\r\n", "Malformed BadBase64Key consumed=12" },
        { "mg YR== b\r\n", "Malformed BadBase64Key consumed=11" },
        { "mg YWJj\tYWJj b\r\n", "Malformed BadBase64Key consumed=16" },
        { "ms a\r\n", "Malformed BadCommandLineFormat consumed=6" },
        { "ms a x\r\n", "Malformed BadCommandLineFormat consumed=8" },
        { "ms a -1\r\n", "Malformed BadCommandLineFormat consumed=9" },
        { "ms a 2147483646\r\n", "Malformed BadCommandLineFormat consumed=17" },
        { "ms a 5 z\r\n", "Malformed InvalidFlag skip=7 consumed=10" },
        { "ms a 5 s s\r\n", "Malformed DuplicateFlag skip=7 consumed=12" },
        { "ms a 5 MX\r\n", "Malformed InvalidSetMode skip=7 consumed=11" },
        { "ms a 5 b\r\n", "Malformed BadBase64Key skip=7 consumed=10" },
        { "ms a 1 q\r\nxyz\r\n", "Malformed BadDataChunk consumed=13" },
        { "md a z\r\n", "Malformed InvalidOrDuplicateFlag consumed=8" },
        { "md a Cx\r\n", "Malformed InvalidOrDuplicateFlag consumed=9" },
        { "ma a Dx\r\n", "Malformed InvalidOrDuplicateFlag consumed=9" },
        { "ma a MX\r\n", "Malformed InvalidArithmeticMode consumed=9" },
        { "me\r\n", "Malformed BadCommandLineFormat consumed=4" },
        { "me Y b\r\n", "Malformed BadCommandLineFormat consumed=8" },
        { "GET / HTTP/1.1\r\n", "Fatal HttpRequest" },
        { "POST / HTTP/1.0\r\n", "Fatal HttpRequest" },
        { "OPTIONS * HTTP/1.1 x\r\n", "Malformed UnknownCommand consumed=22" },
        { "\x80\x01\x00\x03\n", "Fatal BinaryProtocol" },
        { "\x80", "Fatal BinaryProtocol" },
    };

    public static TheoryData<string> CutRequests => [.. Requests.Select(row => (string)row[0]), .. Errors.Select(row => (string)row[0])];

    [Theory]
    [MemberData(nameof(Requests))]
    public void Request_is_read(string input, string expected) => Assert.Equal(expected, MemcachedText.OfRequest(input));

    [Theory]
    [MemberData(nameof(Errors))]
    public void Error_is_the_one_memcached_reports(string input, string expected) =>
        Assert.Equal(expected, MemcachedText.OfRequest(input));

    [Theory]
    [MemberData(nameof(Requests))]
    public void Complete_request_is_consumed_to_its_last_byte_and_no_further(string input, string expected)
    {
        var bytes = Latin.Bytes(input + "get b\r\n");

        var status = MemcachedReader.TryRead(bytes, out var request, out int consumed);

        Assert.Equal(expected, MemcachedText.Of(status, request, bytes, consumed));
        Assert.Equal(input.Length, consumed);
        Assert.Equal(input.Length, request.TotalBytes);
    }

    [Theory]
    [MemberData(nameof(CutRequests))]
    public void Request_cut_anywhere_is_incomplete_and_then_read_as_in_one_piece(string input)
    {
        var bytes = Latin.Bytes(input);
        var whole = MemcachedReader.TryRead(bytes, out var expected, out int expectedBytes);
        int end = whole is ParseStatus.Fatal ? bytes.Length : expectedBytes;

        for (int cut = 0; cut < end; cut++)
        {
            var status = MemcachedReader.TryRead(bytes.AsSpan(0, cut), out var part, out int consumed);

            if (whole == ParseStatus.Fatal && status == ParseStatus.Fatal)
            {
                continue; // The first byte identifies a binary request.
            }

            Assert.Equal(0, consumed);
            if (status == ParseStatus.IncompleteValue)
            {
                Assert.Equal(cut >= part.LineBytes ? expected.TotalBytes : 0, part.TotalBytes);
                continue;
            }

            Assert.Equal(ParseStatus.Incomplete, status);
            status = MemcachedReader.TryRead(bytes, out var again, out consumed, searchedBytes: cut);
            Assert.Equal(
                MemcachedText.Of(whole, expected, bytes, expectedBytes), MemcachedText.Of(status, again, bytes, consumed));
        }
    }

    [Fact]
    public void Set_says_how_many_bytes_it_needs_before_its_value_is_there() =>
        Assert.Equal(
            "IncompleteValue Set key=book:42 flags=7 exptime=60 noreply value=1000 of 1033",
            MemcachedText.OfRequest("set book:42 7 60 1000 noreply\r\nDune"));

    [Theory]
    [InlineData("get ")]
    [InlineData("gets ")]
    [InlineData("gat 1 ")]
    [InlineData("incr ")]
    [InlineData("touch ")]
    [InlineData("delete ")]
    [InlineData("mg ")]
    [InlineData("md ")]
    [InlineData("ma ")]
    [InlineData("me ")]
    [InlineData("get a ")]
    public void Key_may_have_250_bytes_and_no_more(string command)
    {
        string rest = command is "incr " or "touch " ? " 1" : "";

        string longest = MemcachedText.OfRequest($"{command}{LongestKey}{rest}\r\n");
        string tooLong = MemcachedText.OfRequest($"{command}{LongestKey}k{rest}\r\n");

        Assert.DoesNotContain("Malformed", longest, StringComparison.Ordinal);
        Assert.StartsWith("Malformed BadCommandLineFormat", tooLong, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("set {0} 0 0 1{1}\r\nx\r\n")]
    [InlineData("cas {0} 0 0 1 5{1}\r\nx\r\n")]
    [InlineData("ms {0} 1\r\nx\r\n")]
    public void Key_of_a_stored_value_may_have_250_bytes_and_no_more(string form)
    {
        string longest = MemcachedText.OfRequest(string.Format(null, form, LongestKey, ""));
        string tooLong = MemcachedText.OfRequest(string.Format(null, form, LongestKey + "k", ""));

        Assert.EndsWith("value=x", longest, StringComparison.Ordinal);
        Assert.StartsWith("Malformed BadCommandLineFormat consumed", tooLong, StringComparison.Ordinal);
    }

    [Fact]
    public void Opaque_token_may_have_31_bytes_and_no_more()
    {
        string longest = new('1', 31);

        Assert.Contains($"opaque={longest}", MemcachedText.OfRequest($"mg a O{longest}\r\n"), StringComparison.Ordinal);
        Assert.Equal("Malformed OpaqueTooLong consumed=40", MemcachedText.OfRequest($"mg a O{longest}1\r\n"));
        Assert.Equal("Malformed OpaqueTooLong skip=3 consumed=42", MemcachedText.OfRequest($"ms a 1 O{longest}1\r\n"));
        Assert.Equal("Malformed InvalidSetMode skip=3 consumed=45", MemcachedText.OfRequest($"ms a 1 MX O{longest}1\r\n"));
    }

    [Theory]
    [InlineData("mg a", 17, 18, "TooManyGetFlags")]
    [InlineData("md a", 17, 18, "TooManyFlags")]
    [InlineData("ma a", 17, 30, "TooManyFlags")]
    [InlineData("ms a 1", 16, 17, "TooManyFlags")]
    public void Meta_command_may_have_only_so_many_flags(string command, int most, int tooMany, string error)
    {
        string Flags(int count) => string.Concat(Enumerable.Repeat(" s", count));

        Assert.Contains("uplicateFlag", MemcachedText.OfRequest($"{command}{Flags(most)}\r\n"), StringComparison.Ordinal);
        Assert.StartsWith($"Malformed {error} consumed", MemcachedText.OfRequest($"{command}{Flags(tooMany)}\r\n"), StringComparison.Ordinal);
    }

    [Fact]
    public void Line_may_have_2048_bytes_and_no_more()
    {
        string longest = "version " + new string('x', MemcachedReader.MaxLineBytes - 8);

        Assert.StartsWith("Version", MemcachedText.OfRequest(longest + "\n"), StringComparison.Ordinal);
        Assert.Equal("Incomplete", MemcachedText.OfRequest(longest));
        Assert.Equal("Fatal LineTooLong", MemcachedText.OfRequest(longest + "x\n"));
        Assert.Equal("Fatal LineTooLong", MemcachedText.OfRequest(longest + "x"));
    }

    [Theory]
    [InlineData("get")]
    [InlineData("gets")]
    [InlineData("gat 60")]
    [InlineData("  gats 60")]
    public void Get_of_many_keys_may_be_as_long_as_the_caller_allows(string command)
    {
        const int limit = 10_000;
        string keys = string.Concat(Enumerable.Range(0, 2000).Select(i => $" {i % 100:D2}"));
        var allowed = Latin.Bytes(command + keys + "\r\n");
        var tooLong = Latin.Bytes(command + keys + keys + "\r\n");

        Assert.Equal(ParseStatus.Complete, MemcachedReader.TryRead(allowed, out var request, out _, maxMultigetBytes: limit));
        Assert.Equal(2000, request.ArgumentCount);
        Assert.Equal(ParseStatus.Incomplete, MemcachedReader.TryRead(allowed.AsSpan(0, 5000), out _, out _, maxMultigetBytes: limit));
        Assert.Equal(ParseStatus.Fatal, MemcachedReader.TryRead(tooLong, out request, out _, maxMultigetBytes: limit));
        Assert.Equal(MemcachedError.LineTooLong, request.Error);
        Assert.Equal(ParseStatus.Fatal, MemcachedReader.TryRead(tooLong.AsSpan(0, limit + 1), out _, out _, maxMultigetBytes: limit));
    }

    [Fact]
    public void Words_of_a_long_line_beyond_the_23rd_count_for_nothing()
    {
        string words = string.Concat(Enumerable.Range(0, 40).Select(i => $" {i}"));

        var bytes = Latin.Bytes($"stats{words}\r\n");
        MemcachedReader.TryRead(bytes, out var request, out _);

        Assert.Equal(22, request.ArgumentCount);
        Assert.EndsWith(" 21", MemcachedText.Of(ParseStatus.Complete, request, bytes, bytes.Length), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("YQ==", "a")]
    [InlineData("YWJj", "abc")]
    [InlineData("AAEC/w==", "\0\u0001\u0002\xFF")]
    public void Base64_key_is_decoded(string encoded, string expected)
    {
        var bytes = Latin.Bytes($"mg {encoded} b\r\n");
        MemcachedReader.TryRead(bytes, out var request, out _);
        Span<byte> key = stackalloc byte[MemcachedReader.MaxKeyBytes];

        Assert.True(request.TryDecodeKey(bytes, key, out int length));
        Assert.Equal(expected, Latin.Text(key[..length]));
    }

    [Fact]
    public void Forms_read_in_place_and_forms_cut_into_words_give_the_same()
    {
        // Clients do not write a second space. So the reader splits such a line into words.
        foreach (var row in Requests)
        {
            string input = (string)row[0];
            int space = input.IndexOf(' ', StringComparison.Ordinal);
            if (space < 0)
            {
                continue;
            }

            string spaced = input.Insert(space, " ");

            Assert.Equal(MemcachedText.OfRequest(input), MemcachedText.OfRequest(spaced));
        }
    }

    [Fact]
    public void Every_error_that_can_be_said_has_a_line()
    {
        foreach (var error in Enum.GetValues<MemcachedError>())
        {
            var text = Latin.Text(MemcachedReader.GetErrorText(error));

            bool isSilent = error is MemcachedError.None or MemcachedError.HttpRequest or MemcachedError.BinaryProtocol;
            Assert.Matches(isSilent ? "^$" : "^(ERROR|(CLIENT|SERVER)_ERROR [^\r\n]+)\r\n$", text);
        }
    }

    [Fact]
    public void Request_is_read_without_allocating()
    {
        var inputs = Requests.Concat(Errors).Select(row => Latin.Bytes((string)row[0])).ToArray();
        ReadAll(inputs);

        long before = GC.GetAllocatedBytesForCurrentThread();
        ReadAll(inputs);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.Equal(0, allocated);
    }

    private static void ReadAll(byte[][] inputs)
    {
        foreach (var input in inputs)
        {
            MemcachedReader.TryRead(input, out var request, out _);
            foreach (var word in request.EnumerateArguments(input))
            {
                _ = word.Length;
            }
        }
    }
}
