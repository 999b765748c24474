namespace Cairn.Server.Tests.Memcached;

/// <summary>The commands that store, count and remove, with the replies of memcached 1.6.</summary>
public class StorageTests
{
    // The input and the reply. \n represents a line end.
    public static TheoryData<string, string> Scripts => new()
    {
        { "set a 0 0 3\nabc\nget a\n", "STORED\nVALUE a 0 3\nabc\nEND\n" },
        { "set a 5 0 3\nabc\nget a\n", "STORED\nVALUE a 5 3\nabc\nEND\n" },
        { "set a 4294967295 0 0\n\nget a\n", "STORED\nVALUE a 4294967295 0\n\nEND\n" },
        { "set a 0 0 1\n1\nset a 0 0 2\n22\nget a\n", "STORED\nSTORED\nVALUE a 0 2\n22\nEND\n" },
        { "set a 0 0 1 noreply\n1\nget a\n", "VALUE a 0 1\n1\nEND\n" },
        { "set a 0 -1 1\n1\nget a\n", "STORED\nEND\n" },
        { "set a 0 0 1\n1\nset a 0 -1 1\n1\nget a\n", "STORED\nSTORED\nEND\n" },
        { "get a\n", "END\n" },
        { "get a b c\n", "END\n" },
        { "set a 0 0 1\n1\nset c 9 0 1\n3\nget a b c a\n", "STORED\nSTORED\nVALUE a 0 1\n1\nVALUE c 9 1\n3\nVALUE a 0 1\n1\nEND\n" },
        { "add a 0 0 1\n1\nadd a 0 0 1\n2\nget a\n", "STORED\nNOT_STORED\nVALUE a 0 1\n1\nEND\n" },
        { "replace a 0 0 1\n1\nset a 0 0 1\n1\nreplace a 0 0 1\n2\nget a\n", "NOT_STORED\nSTORED\nSTORED\nVALUE a 0 1\n2\nEND\n" },
        { "append a 0 0 1\n1\nset a 7 0 1\n1\nappend a 0 0 1\n2\nprepend a 0 0 1\n0\nget a\n", "NOT_STORED\nSTORED\nSTORED\nSTORED\nVALUE a 7 3\n012\nEND\n" },
        { "cas a 0 0 1 1\n1\n", "NOT_FOUND\n" },
        { "set a 0 0 1\n1\ncas a 0 0 1 0\n2\n", "STORED\nEXISTS\n" },
        { "delete a\nset a 0 0 1\n1\ndelete a\nget a\n", "NOT_FOUND\nSTORED\nDELETED\nEND\n" },
        { "set a 0 0 1\n1\ndelete a noreply\nget a\n", "STORED\nEND\n" },
        { "incr a 1\nset a 3 0 2\n99\nincr a 1\nget a\n", "NOT_FOUND\nSTORED\n100\nVALUE a 3 3\n100\nEND\n" },
        { "set a 0 0 2\n10\ndecr a 1\nget a\n", "STORED\n9\nVALUE a 0 2\n9 \nEND\n" },
        { "set a 0 0 2\n10\ndecr a 11\n", "STORED\n0\n" },
        { "set a 0 0 20\n18446744073709551615\nincr a 2\nget a\n", "STORED\n1\nVALUE a 0 20\n1                   \nEND\n" },
        { "set a 0 0 1\nx\nincr a 1\n", "STORED\nCLIENT_ERROR cannot increment or decrement non-numeric value\n" },
        { "set a 0 0 0\n\nincr a 1\n", "STORED\nCLIENT_ERROR cannot increment or decrement non-numeric value\n" },
        { "set a 0 0 3\n 12\nincr a 1\nget a\n", "STORED\n13\nVALUE a 0 3\n13 \nEND\n" },
        { "incr a x\n", "CLIENT_ERROR invalid numeric delta argument\n" },
        { "touch a 1\nset a 0 0 1\n1\ntouch a 10\ntouch a -1\nget a\n", "NOT_FOUND\nSTORED\nTOUCHED\nTOUCHED\nEND\n" },
        { "set a 0 0 1\n1\ngat 10 a b\ngat -1 a\nget a\n", "STORED\nVALUE a 0 1\n1\nEND\nVALUE a 0 1\n1\nEND\nEND\n" },
        { "gat 10\n", "END\n" },
        { "set a 0 0 1\n22\nget a\n", "CLIENT_ERROR bad data chunk\nERROR\nEND\n" },
        { "set a 0 0 1 noreply\n22\nversion\n", "ERROR\nVERSION 1.6.45\n" },
        { "nothing\n\nget\nset a\n", "ERROR\nERROR\nERROR\nERROR\n" },
        { "verbosity 1\nverbosity\nmn\n", "OK\nERROR\nMN\n" },
        { "set a 0 0 1\n1\nflush_all\nget a\nflush_all 0 noreply\n", "STORED\nOK\nEND\n" },
        { "cache_memlimit 64\ncache_memlimit 1\n", "OK\nMEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\n" },
        { "shutdown\n", "ERROR: shutdown not enabled\n" },
        { "quit\nversion\n", "" },
        { "GET / HTTP/1.1\nversion\n", "" },
    };

    [Theory]
    [MemberData(nameof(Scripts))]
    public void Script_is_answered(string script, string reply)
    {
        using var session = new SessionUnderTest();

        string answer = session.Send(script.Replace("\n", "\r\n", StringComparison.Ordinal));

        Assert.Equal(reply, answer.Replace("\r\n", "\n", StringComparison.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Scripts))]
    public void Script_is_answered_when_it_comes_byte_by_byte(string script, string reply)
    {
        using var session = new SessionUnderTest();
        string answer = "";

        foreach (char c in script.Replace("\n", "\r\n", StringComparison.Ordinal))
        {
            answer += session.Send([(byte)c]);
        }

        Assert.Equal(reply, answer.Replace("\r\n", "\n", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("append long 0 0 1\r\nx\r\n", 2)]
    [InlineData("prepend long 0 0 1\r\nx\r\n", 2)]
    [InlineData("ms long 1 MA\r\nx\r\n", 2)]
    [InlineData("touch long 100\r\n", 2)]
    [InlineData("mg long T100\r\n", 2)]
    [InlineData("md long I T100\r\n", 2)]
    [InlineData("incr long 1\r\n", 2)]
    [InlineData("ma long\r\n", 2)]
    [InlineData("mg long s\r\n", 5)]
    public void Commands_that_each_read_a_long_value_are_few_in_a_turn(string command, int most)
    {
        using var session = new SessionUnderTest(options => options with { MaxItemBytes = 4 << 20 });
        Assert.True(session.Store.DefaultCollection.Set("long", TestBytes.Of(1 << 20)));
        session.Add(System.Text.Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat(command, 100))));

        Assert.True(session.Execute(budget: 200));

        Assert.InRange((100 * command.Length) - session.RestBytes, command.Length, most * command.Length);
    }

    [Fact]
    public void Version_that_gets_returns_is_the_one_that_cas_requires()
    {
        using var session = new SessionUnderTest();
        session.Send("set a 0 0 1\r\n1\r\n");
        string version = session.Send("gets a\r\n").Split("\r\n")[0].Split(' ')[4];

        Assert.Equal("STORED\r\n", session.Send($"cas a 0 0 1 {version}\r\n2\r\n"));
        Assert.Equal("EXISTS\r\n", session.Send($"cas a 0 0 1 {version}\r\n3\r\n"));
        Assert.Equal("VALUE a 0 1\r\n2\r\nEND\r\n", session.Send("get a\r\n"));
    }

    [Fact]
    public void Entry_lives_until_its_time()
    {
        using var session = new SessionUnderTest();
        long then = session.Clock.Now.ToUnixTimeSeconds() + 10;
        session.Send($"set a 0 10 1\r\n1\r\nset b 0 {then} 1\r\n2\r\nset c 0 2592000 1\r\n3\r\nset d 0 2592001 1\r\n4\r\n");

        Assert.Equal("VALUE a 0 1\r\n1\r\nVALUE b 0 1\r\n2\r\nVALUE c 0 1\r\n3\r\nEND\r\n", session.Send("get a b c d\r\n"));
        session.Clock.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal("VALUE c 0 1\r\n3\r\nEND\r\n", session.Send("get a b c\r\n"));
    }

    [Fact]
    public void Touch_moves_the_end_of_an_entry()
    {
        using var session = new SessionUnderTest();
        session.Send("set a 0 10 1\r\n1\r\n");

        session.Send("touch a 20\r\n");
        session.Clock.Advance(TimeSpan.FromSeconds(19));
        Assert.Equal("VALUE a 0 1\r\n1\r\nEND\r\n", session.Send("gat 5 a\r\n"));
        session.Clock.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal("END\r\n", session.Send("get a\r\n"));
    }

    [Fact]
    public void Flush_with_a_delay_empties_the_store_when_it_has_passed()
    {
        using var session = new SessionUnderTest();
        session.Send("set a 0 0 1\r\n1\r\nflush_all 10\r\n");

        session.Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal("VALUE a 0 1\r\n1\r\nEND\r\n", session.Send("get a\r\n"));
        session.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("END\r\n", session.Send("get a\r\n"));
        Assert.Equal("STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n", session.Send("set a 0 0 1\r\n1\r\nget a\r\n"));
    }

    [Fact]
    public unsafe void Flush_with_a_delay_that_a_held_lock_prevents_is_reported_and_tried_again()
    {
        using var session = new SessionUnderTest();
        var messages = new List<string>();
        session.Store.Engine.Failures.Add(messages.Add);
        session.Send("set a 0 0 1\r\n1\r\nflush_all 10\r\n");
        int partition = session.Store.DefaultCollection.PartitionOf("a");
        using (var other = CairnStore.Open(new StoreOptions { Path = session.Store.Path, FlushOnClose = false }))
        {
            Cairn.Storage.PartitionBlock* block = other.Engine.Enter(partition);
            session.Clock.Advance(TimeSpan.FromSeconds(10));
            Assert.Equal("VALUE a 0 1\r\n1\r\nEND\r\n", session.Send("get a\r\n"));
            other.Engine.Leave(block);
        }

        Assert.StartsWith("A delayed flush_all failed", Assert.Single(messages), StringComparison.Ordinal);
        session.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal("END\r\n", session.Send("get a\r\n"));
        Assert.False(session.Sessions.IsFlushWaiting);
    }

    [Fact]
    public void Flush_with_a_delay_brings_nothing_back_that_an_earlier_flush_removed()
    {
        using var session = new SessionUnderTest();

        session.Send("set a 0 0 1\r\n1\r\nflush_all\r\nflush_all 10\r\n");

        Assert.Equal("END\r\n", session.Send("get a\r\n"));
    }

    [Theory]
    [InlineData("set a 0 0 {0}", true)]
    [InlineData("set a 0 0 {0} noreply", true)]
    [InlineData("add a 0 0 {0}", false)]
    [InlineData("replace a 0 0 {0}", false)]
    [InlineData("append a 0 0 {0}", false)]
    [InlineData("ms a {0}", true)]
    [InlineData("ms YQ== {0} b", true)]
    public void Value_too_large_is_refused_and_swallowed_without_being_held(string command, bool takesOldValue)
    {
        using var session = new SessionUnderTest();
        session.Send("set a 0 0 1\r\n1\r\n");
        byte[] piece = new byte[100_000];

        string line = string.Format(System.Globalization.CultureInfo.InvariantCulture, command, 100 * piece.Length);
        string reply = session.Send(line + "\r\n");
        for (int i = 0; i < 100; i++)
        {
            session.Send(piece);
            Assert.Equal(0, session.RestBytes);
        }

        session.Send("\r\n");
        Assert.Equal(line.EndsWith("noreply", StringComparison.Ordinal) ? "" : "SERVER_ERROR object too large for cache\r\n", reply);
        Assert.Equal(takesOldValue ? "END\r\n" : "VALUE a 0 1\r\n1\r\nEND\r\n", session.Send("get a\r\n"));
    }

    [Fact]
    public void Limit_of_an_item_is_memcacheds()
    {
        using var session = new SessionUnderTest();

        Assert.Equal("STORED\r\n", session.Send("set big 0 0 1048514\r\n" + new string('v', 1048514) + "\r\n"));
        Assert.Equal("NOT_STORED\r\n", session.Send("append big 0 0 1\r\nv\r\n"));
        Assert.StartsWith("SERVER_ERROR", session.Send("set big 0 0 1048515\r\n" + new string('v', 1048515) + "\r\n"), StringComparison.Ordinal);
        Assert.StartsWith("SERVER_ERROR", session.Send("set big 1 0 1048514\r\n" + new string('v', 1048514) + "\r\n"), StringComparison.Ordinal);
    }

    [Fact]
    public void Large_value_is_waited_for_as_a_whole()
    {
        using var session = new SessionUnderTest();

        session.Send("set a 0 0 1000\r\nabc");

        Assert.Equal("set a 0 0 1000\r\n".Length + 1002, session.Session.NeededBytes);
    }
}
