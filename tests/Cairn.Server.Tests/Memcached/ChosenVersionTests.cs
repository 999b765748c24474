namespace Cairn.Server.Tests.Memcached;

/// <summary>The flag E of memcached's meta commands: a client chooses the version of the entry that it writes.</summary>
public class ChosenVersionTests
{
    public static TheoryData<string, string> Scripts => new()
    {
        { "ms a 2 E973\nhi\nmg a c\nms a 2 c C973 E4000\nlo\nmg a c v\n", "HD\nHD c973\nHD c4000\nVA 2 c4000\nlo\n" },
        { "ms a 1 E7 c T30 F5\n1\nmg a c t f\nms a 1 C8\n2\nms a 1 C7 MA\n2\nmg a v\n", "HD c7\nHD c7 t30 f5\nEX\nHD\nVA 2\n12\n" },
        { "ms a 1 MA N30 E9 c\n1\nms a 1 MP E10 c\n0\nmg a c v\n", "HD c9\nHD c10\nVA 2 c10\n01\n" },
        { "mg a s c v N30 t E9876\nmg a c E5\n", "VA 0 s0 c9876 t30 W\n\nHD c9876 Z\n" },
        { "ms a 2 E1234\nhi\nmd a C1 E5 I\nmd a C1234 E5678 I\nmg a c v\nmd a x E3\nmg a c v\nmd a C3\nmg a\n", "HD\nEX\nHD\nVA 2 c5678 X W\nhi\nHD\nVA 0 c3\n\nHD\nEN\n" },
        { "ma a v N0 c E4321 J5\nma a C4320\nma a C4321 v\nma a c v E8765\nmg a c\n", "VA 1 c4321\n5\nEX\nVA 1\n6\nVA 1 c8765\n7\nHD c8765\n" },
        { "ms a 1 E18446744073709551615 c\n1\nms a 1 C18446744073709551615\n2\n", "HD c18446744073709551615\nHD\n" },
        { "ms a 1 E5\n1\ntouch a 50\nmg a c t\ngat 60 a\nmg a c t\nmg a T70\nmg a c t\n", "HD\nTOUCHED\nHD c5 t50\nVALUE a 0 1\n1\nEND\nHD c5 t60\nHD\nHD c5 t70\n" },
        { "ms a 1 E5\n1\ngets a\ncas a 0 0 1 4\n2\ncas a 0 0 1 5\n3\ncas a 0 0 1 5\n4\n", "HD\nVALUE a 0 1 5\n1\nEND\nEXISTS\nSTORED\nEXISTS\n" },
        { "ms a 1 E5\n1\nme a\n", "HD\nME a exp=-1 la=0 cas=5 fetch=no cls=1 size=61\n" },
        { "ms a 1 E5\n1\nms a 1 C4 I\n2\nmg a v c\n", "HD\nHD\nVA 1 cN X W\n2\n" },
        { "ms a 1 E\n1\nms a 1 E-1\n1\nms a 1 E1 E2\n1\n", "CLIENT_ERROR bad token in command line format\nCLIENT_ERROR bad token in command line format\nCLIENT_ERROR duplicate flag\n" },
    };

    [Theory]
    [MemberData(nameof(Scripts))]
    public void Script_is_answered_as_by_memcached_1_6_45(string script, string reply)
    {
        using var session = new SessionUnderTest();

        string answer = session.Send(script.Replace("\n", "\r\n", StringComparison.Ordinal)).Replace("\r\n", "\n", StringComparison.Ordinal);

        Assert.Equal(reply, reply.Contains("cN", StringComparison.Ordinal) ? System.Text.RegularExpressions.Regex.Replace(answer, @" c\d+", " cN") : answer);
    }

    [Theory]
    [InlineData("set a 0 0 1\r\n2\r\n")]
    [InlineData("ms a 1\r\n2\r\n")]
    [InlineData("append a 0 0 1\r\n2\r\n")]
    [InlineData("incr a 1\r\n")]
    [InlineData("ms a 1 MP\r\n2\r\n")]
    public void Next_write_without_the_flag_has_a_version_of_the_server(string write)
    {
        using var session = new SessionUnderTest();
        session.Send("ms a 1 E5\r\n1\r\n" + write);

        ulong version = ulong.Parse(session.Send("mg a c\r\n")[4..^2], System.Globalization.CultureInfo.InvariantCulture);

        Assert.True(version > uint.MaxValue);
        Assert.Equal("EX\r\nHD\r\n", session.Send($"md a C5\r\nmd a C{version}\r\n"));
    }

    [Fact]
    public void Entry_with_a_chosen_version_does_not_have_the_version_of_the_store()
    {
        using var session = new SessionUnderTest();
        string version = session.Send("ms a 1 c\r\n1\r\n")[4..^2];

        // The next write of the key gets the next version, which is larger by 64 for clients. Nothing may be compared with it.
        ulong next = ulong.Parse(version, System.Globalization.CultureInfo.InvariantCulture) + 64;
        Assert.Equal("HD\r\nEX\r\nEXISTS\r\nHD c5\r\n", session.Send($"ms a 1 E5\r\n2\r\nmd a C{next}\r\ncas a 0 0 1 {next}\r\n3\r\nmg a c\r\n"));
    }

    [Fact]
    public void Long_value_has_the_version_that_was_chosen()
    {
        using var session = new SessionUnderTest();
        string value = new('v', 200_000);

        Assert.Equal("HD c5\r\n", session.Send($"ms a {value.Length} c E5\r\n{value}\r\n"));
        Assert.Equal("HD t30\r\nHD c5 s200000\r\n", session.Send("mg a T30 t\r\nmg a c s\r\n"));
        Assert.Equal("HD c6\r\nHD c6 s200001\r\n", session.Send("ms a 1 MA c C5 E6\r\nv\r\nmg a c s\r\n"));
        Assert.Equal("HD\r\nMN\r\n", session.Send("mg a v C6\r\nmn\r\n"));
    }

    [Fact]
    public void Server_without_versions_ignores_the_flag()
    {
        using var session = new SessionUnderTest(options => options with { TellsVersions = false });

        Assert.Equal("HD c0\r\nHD c0\r\nHD\r\n", session.Send("ms a 1 c E5\r\n1\r\nmg a c\r\nmd a C7\r\n"));
    }
}
