using System.Text.RegularExpressions;

namespace Cairn.Server.Tests.Memcached;

/// <summary>The meta commands, with the replies of memcached 1.6. The expected replies write versions as cN.</summary>
public partial class MetaTests
{
    public static TheoryData<string, string> Scripts => new()
    {
        { "mn\n", "MN\n" },
        { "mg a\nmg a v\nmg a v q\nmg a k O9\nmn\n", "EN\nEN\nEN ka O9\nMN\n" },
        { "ms a 2\nhi\nmg a\nmg a v\n", "HD\nHD\nVA 2\nhi\n" },
        { "ms a 2 c k O7 F5\nhi\nmg a c f s t k O1 v\n", "HD cN ka O7\nVA 2 cN f5 s2 t-1 ka O1\nhi\n" },
        { "ms a 2 T30 q\nhi\nmg a t T60\nmg a T50 t\n", "HD t30\nHD t50\n" },
        { "ms YWI= 1 b\n1\nmg ab v\nmg YWI= b k v\n", "HD\nVA 1\n1\nVA 1 kYWI= b\n1\n" },
        { "ms a 1 ME\n1\nms a 1 ME\n2\nms a 1 ME q\n3\nmg a v\n", "HD\nNS\nNS\nVA 1\n1\n" },
        { "ms a 1 MR\n1\nms a 1\n1\nms a 1 MR\n2\nmg a v\n", "NS\nHD\nHD\nVA 1\n2\n" },
        { "ms a 1 MA\n1\nms a 1\n1\nms a 1 MA\n2\nms a 1 MP\n0\nmg a v\n", "NS\nHD\nHD\nHD\nVA 3\n012\n" },
        { "ms a 1 C5\n1\nms a 1\n1\nms a 1 C1000000\n2\nmg a v\n", "NF\nHD\nEX\nVA 1\n1\n" },
        { "md a\nmd a q\nms a 1\n1\nmd a q k\nmd a k O1\n", "NF\nNF\nHD\nNF ka O1\n" },
        { "ms a 1\n1\nmd a C1000000\nmg a\n", "HD\nEX\nHD\n" },
        { "ma a\nma a N0 J13 v c t k O2\nma a v D7\nma a MD D100 v\nmg a v\nma a q\nma a\n", "NF\nVA 2 cN t-1 ka O2\n13\nVA 2\n20\nVA 1\n0\nVA 2\n0 \nHD\n" },
        { "ms a 1\nx\nma a\nma b N30 t\n", "HD\nCLIENT_ERROR cannot increment or decrement non-numeric value\nHD t30\n" },
        { "ms a 1\n1\nma a C1000000\nma a T30 t v\n", "HD\nEX\nVA 1 t30\n2\n" },
        { "ma a N30 t\nma a t N30\nma a t T100\nma a T200 t\n", "HD t30\nHD t30\nHD t30\nHD t200\n" },
        { "ms a 2 T30 F4\nhi\nmd a I T40\nmg a t v f\nmg a t v f\nget a\nms a 3\nnew\nmg a v\n",
            "HD\nHD\nVA 2 t40 f4 X W\nhi\nVA 2 t40 f4 Z X\nhi\nVALUE a 4 2\nhi\nEND\nHD\nVA 3\nnew\n" },
        { "mg a N30 v t\nmg a N30 v t\nms a 1\n1\nmg a v\n", "VA 0 t30 W\n\nVA 0 t30 Z\n\nHD\nVA 1\n1\n" },
        { "set a 0 100 1\n1\nmg a R200 t\nmg a R200 t\nmg a R50\n", "STORED\nHD t100 W\nHD t100 Z\nHD Z\n" },
        { "set a 0 100 1\n1\nms a 1 C1 I\n2\nmg a v t\nmg a v\n", "STORED\nHD\nVA 1 t100 X W\n2\nVA 1 Z X\n2\n" },
        { "me a\nset a 0 0 1\n1\nme a\n", "EN\nSTORED\nME a exp=-1 la=0 cas=N fetch=no cls=1 size=61\n" },
        { "ms a 1 T-1\n1\nmg a v\n", "HD\nEN\n" },
        { "set a 0 0 1\n1\nmg a T-1 v\nmg a v\n", "STORED\nVA 1\n1\nEN\n" },
        { "ms b 3\nabcd\n", "CLIENT_ERROR bad data chunk\nERROR\n" },
        { "set a 7 0 1\n1\nmg a h\nmg a h\n", "STORED\nHD h0\nHD h1\n" },
    };

    /// <summary>Gets what came after memcached 1.6.18, with the replies of 1.6.45.</summary>
    public static TheoryData<string, string> NewerScripts => new()
    {
        { "ms a 2 MA N30 s\nhi\nms a 1 MP N60 s\n0\nmg a v t\nms a 1 MA q N5\n9\nmg a v\n", "HD s2\nHD s3\nVA 3 t30\n0hi\nVA 4\n0hi9\n" },
        { "ms a 2 s k\nhi\nms a 3 ME s\nnew\n", "HD s2 ka\nNS s3\n" },
        { "md a x\nms a 2 F5 T30\nhi\nmd a x k\nmg a v f t\n", "NF\nHD\nHD ka\nVA 0 f0 t-1\n\n" },
        { "ms a 2\nhi\nmd a x I T30\nmg a v t\n", "HD\nHD\nVA 0 t30 X W\n\n" },
        { "mg a E5\nms a 1\n1\nmg a v E5\nmd a Ex\n", "EN\nHD\nVA 1\n1\nCLIENT_ERROR invalid or duplicate flag\n" },
        { "ma a N0 q\nma a q\nmg a v\n", "VA 1\n1\n" },
    };

    [Theory]
    [MemberData(nameof(Scripts))]
    [MemberData(nameof(NewerScripts))]
    public void Script_is_answered(string script, string reply)
    {
        using var session = new SessionUnderTest();

        // Deletes a key first, so that the versions in the scripts are in the past.
        session.Send("ms a 1 q\r\n1\r\nmd a q\r\nms a 1 q\r\n1\r\nmd a q\r\n");
        string answer = session.Send(script.Replace("\n", "\r\n", StringComparison.Ordinal));

        answer = Version().Replace(answer.Replace("\r\n", "\n", StringComparison.Ordinal), "$1N");
        Assert.Equal(reply, answer);
    }

    [Fact]
    public void Version_that_is_returned_is_the_one_that_is_compared()
    {
        using var session = new SessionUnderTest();

        string version = session.Send("ms a 1 c\r\n1\r\n")[4..^2];
        Assert.Equal($"HD c{version}\r\n", session.Send("mg a c\r\n"));
        version = session.Send($"ms a 1 C{version} c\r\n2\r\n")[4..^2];
        version = session.Send($"ma a C{version} c\r\n")[4..^2];
        Assert.Equal("HD\r\n", session.Send($"ms a 1 C{version} MA\r\n4\r\n"));
        Assert.Equal("EX\r\n", session.Send($"ms a 1 C{version} MA\r\n5\r\n"));
        version = session.Send("mg a c v T100\r\n").Split("\r\n")[0][6..];
        Assert.Equal("HD\r\n", session.Send($"md a C{version}\r\n"));
    }

    [Fact]
    public void Value_that_the_client_has_is_not_sent_again()
    {
        using var session = new SessionUnderTest();
        string version = session.Send("ms a 2 c\r\nhi\r\n")[4..^2];

        Assert.Equal($"HD c{version} s2\r\n", session.Send($"mg a v c s C{version}\r\n"));
        Assert.Equal("VA 2 k" + "a\r\nhi\r\n", session.Send("mg a v k C1\r\n"));
        Assert.Equal("EN\r\n", session.Send($"mg b v C{version}\r\n"));
        Assert.Equal("HD t30\r\n", session.Send($"mg a v T30 t C{version}\r\n"));
    }

    [Fact]
    public void Long_value_that_the_client_has_is_not_sent_again()
    {
        using var session = new SessionUnderTest();
        string value = new('v', 200_000);
        string version = session.Send($"ms a {value.Length} c\r\n{value}\r\n")[4..^2];

        Assert.Equal("HD\r\nMN\r\n", session.Send($"mg a v C{version}\r\nmn\r\n"));
        Assert.Equal($"VA {value.Length}\r\n{value}\r\nMN\r\n", session.Send("mg a v C5\r\nmn\r\n"));
    }

    [Fact]
    public void Time_of_the_last_use_is_estimated_from_the_time_of_the_write()
    {
        // An entry counts as written at the note that follows, which is at most a second later.
        using var session = new SessionUnderTest();
        session.Send("set early 0 0 1\r\n1\r\n");
        Pass(session, seconds: 40);
        session.Send("set late 0 0 1\r\n1\r\n");
        Pass(session, seconds: 8);

        Assert.Equal("HD l47\r\nHD l7\r\nEN\r\n", session.Send("mg early l u\r\nmg late l\r\nmg none l\r\n"));
        Assert.Equal("HD l3 h1\r\n", session.Send("mg late l h\r\n"));
        Assert.Contains(" la=47 ", session.Send("me early\r\n"), StringComparison.Ordinal);
        Assert.Contains($"key=early exp=-1 la={session.Clock.Now.ToUnixTimeSeconds() - 47} ", session.Send("lru_crawler metadump all\r\n"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(600, 30)]
    [InlineData(20_000, 600)]
    public void Estimate_of_the_time_of_the_write_is_less_exact_for_old_entries(int seconds, int error)
    {
        using var session = new SessionUnderTest();
        Pass(session, seconds: 77);
        session.Send("set a 0 0 1\r\n1\r\n");

        Pass(session, seconds);

        string reply = session.Send("mg a l u\r\n");
        Assert.InRange(int.Parse(reply[4..^2], System.Globalization.CultureInfo.InvariantCulture), seconds - error, seconds);
    }

    private static void Pass(SessionUnderTest session, int seconds)
    {
        for (int i = 0; i < seconds; i++)
        {
            session.Clock.Advance(TimeSpan.FromSeconds(1));
            session.Sessions.WriteTimes.Note();
        }
    }

    [Fact]
    public void Versions_of_all_keys_differ()
    {
        using var session = new SessionUnderTest();
        string sets = string.Concat(Enumerable.Range(0, 2_000).Select(i => $"ms key{i} 1 c\r\n1\r\n"));

        string[] versions = session.Send(sets).Split("\r\n", StringSplitOptions.RemoveEmptyEntries);

        Assert.Equal(2_000, versions.Length);
        Assert.Equal(2_000, versions.Distinct().Count());
        Assert.Equal("EXISTS\r\n", session.Send($"cas key1 0 0 1 {versions[2][4..]}\r\n2\r\n"));
        Assert.Equal("STORED\r\n", session.Send($"cas key1 0 0 1 {versions[1][4..]}\r\n2\r\n"));
    }

    [Fact]
    public void Versions_that_are_not_sent_are_not_compared()
    {
        using var session = new SessionUnderTest(options => options with { TellsVersions = false });

        Assert.Equal("NOT_FOUND\r\n", session.Send("cas a 0 0 1 5\r\n1\r\n"));
        Assert.Equal("STORED\r\nVALUE a 0 1 0\r\n1\r\nEND\r\n", session.Send("set a 0 0 1\r\n1\r\ngets a\r\n"));
        Assert.Equal("STORED\r\nHD c0\r\n", session.Send("cas a 0 0 1 5\r\n2\r\nmg a c\r\n"));
        Assert.Equal("HD c0\r\nHD\r\n", session.Send("ms a 1 C77 c\r\n3\r\nmd a C78\r\n"));
    }

    [Theory]
    [InlineData(100)]
    [InlineData(70_000)]
    [InlineData(900_000)]
    public void Value_of_any_length_comes_back(int length)
    {
        using var session = new SessionUnderTest();
        string value = new('v', length);
        session.Send($"ms a {length}\r\n{value}\r\nms b {length} T100 F3\r\n{value}\r\n");

        Assert.Equal($"VA {length} ka s{length}\r\n{value}\r\nMN\r\n", session.Send("mg a v k s\r\nmn\r\n"));
        Assert.Equal($"VA {length} f3\r\n{value}\r\nMN\r\n", session.Send("mg b v f u\r\nmn\r\n"));
        Assert.Equal($"VA {length} t50\r\n{value}\r\nHD t50\r\n", session.Send("mg b v T50 t\r\nmg b t\r\n"));
        Assert.Equal($"HD\r\nVA {length} X W\r\n{value}\r\nVA {length} Z X\r\n{value}\r\n", session.Send("md b I\r\nmg b v\r\nmg b v\r\n"));
    }

    [Fact]
    public void Stale_value_is_seen_by_the_store_too()
    {
        using var session = new SessionUnderTest();

        session.Send("ms a 2 T30\r\nhi\r\nmd a I T40\r\n");

        Assert.Equal("hi", session.Store.DefaultCollection.GetString("a"));
    }

    [GeneratedRegex(@"( c|cas=)\d+")]
    private static partial Regex Version();
}
