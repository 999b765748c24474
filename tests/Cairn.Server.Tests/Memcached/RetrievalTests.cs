using System.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Memcached;

/// <summary>The ways in which values reach the client.</summary>
public class RetrievalTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(9)]
    [InlineData(10)]
    [InlineData(1_000)]
    [InlineData(20_000)]
    [InlineData(65_535)]
    [InlineData(65_536)]
    [InlineData(200_000)]
    [InlineData(1_000_000)]
    public void Value_of_any_length_comes_back(int length)
    {
        using var session = new SessionUnderTest();
        string value = Text(length);

        session.Send($"set plain 0 0 {length}\r\n{value}\r\nset flagged 77 100 {length}\r\n{value}\r\n");

        Assert.Equal($"VALUE plain 0 {length}\r\n{value}\r\nEND\r\n", session.Send("get plain\r\n"));
        Assert.Equal($"VALUE flagged 77 {length}\r\n{value}\r\nEND\r\n", session.Send("get flagged\r\n"));
        Assert.Equal(
            $"VALUE flagged 77 {length}\r\n{value}\r\nVALUE plain 0 {length}\r\n{value}\r\nEND\r\n",
            session.Send("get missing flagged plain\r\n"));
    }

    [Fact]
    public void Value_comes_back_however_little_room_the_output_has_left()
    {
        using var session = new SessionUnderTest();
        string value = Text(3_000);
        session.Send($"set value 0 0 {value.Length}\r\n{value}\r\n");

        // The steps are shorter than the variation in length of a reply's first line.
        for (int before = 55_000; before < 63_000; before += 3)
        {
            session.Send($"set before 0 0 {before}\r\n{Text(before)}\r\n");
            string reply = session.Send("get before value\r\n");
            Assert.EndsWith($"VALUE value 0 {value.Length}\r\n{value}\r\nEND\r\n", reply, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Long_reply_is_written_as_the_client_reads_it()
    {
        using var session = new SessionUnderTest();
        string value = Text(500_000);
        session.Send($"set long 0 0 {value.Length}\r\n{value}\r\n");
        string keys = string.Concat(Enumerable.Repeat(" long", 20));

        session.Add(Encoding.ASCII.GetBytes($"get{keys}\r\nversion\r\n"));
        var reply = new StringBuilder();
        while (session.Execute(budget: 10) || session.Output.UnsentBytes > 0)
        {
            Assert.InRange(session.Output.UnsentBytes, 0, 2 * OutputBuffer.FullBytes);
            reply.Append(session.Read());
        }

        string one = $"VALUE long 0 {value.Length}\r\n{value}\r\n";
        Assert.Equal(string.Concat(Enumerable.Repeat(one, 20)) + "END\r\nVERSION 1.6.45\r\n", reply.ToString());
    }

    [Fact]
    public void Long_value_that_is_being_read_stays_whole_when_it_is_replaced()
    {
        using var session = new SessionUnderTest();
        string value = Text(900_000);
        session.Send($"set long 0 0 {value.Length}\r\n{value}\r\n");
        session.Add("get long\r\n"u8);
        session.Execute(budget: 1);

        string reply = session.Read();
        for (int i = 0; i < 200; i++)
        {
            session.Store.DefaultCollection.Set("long", new byte[900_000]);
        }

        while (session.Execute(budget: 1) || session.Output.UnsentBytes > 0)
        {
            reply += session.Read();
        }

        Assert.Equal($"VALUE long 0 {value.Length}\r\n{value}\r\nEND\r\n", reply);
    }

    [Fact]
    public void Connection_that_ends_in_the_middle_of_a_value_gives_it_up()
    {
        using var session = new SessionUnderTest();
        session.Send($"set long 0 0 900000\r\n{Text(900_000)}\r\n");

        for (int i = 0; i < 300; i++)
        {
            var other = session.CreateAnother();
            other.Execute("get long\r\n"u8, new OutputBuffer(), 1);
            other.OnClosed(CloseReason.Reset);
        }

        Assert.Equal(900_000 + "VALUE long 0 900000\r\n\r\nEND\r\n".Length, session.Send("get long\r\n").Length);
    }

    [Fact]
    public void Request_beyond_the_budget_waits()
    {
        using var session = new SessionUnderTest();
        session.Add("version\r\nversion\r\nversion\r\n"u8);

        session.Execute(budget: 2);

        Assert.Equal("VERSION 1.6.45\r\nVERSION 1.6.45\r\n", session.Read());
        Assert.Equal("version\r\n".Length, session.RestBytes);
    }

    [Fact]
    public void Many_keys_of_one_request_are_all_answered()
    {
        using var session = new SessionUnderTest();
        var expected = new StringBuilder();
        for (int i = 0; i < 1000; i++)
        {
            session.Send($"set key{i} {i % 3} 0 {i.ToString(System.Globalization.CultureInfo.InvariantCulture).Length}\r\n{i}\r\n");
            expected.Append(System.Globalization.CultureInfo.InvariantCulture, $"VALUE key{i} {i % 3} {i.ToString(System.Globalization.CultureInfo.InvariantCulture).Length}\r\n{i}\r\n");
        }

        string reply = session.Send("get " + string.Join(' ', Enumerable.Range(0, 1000).Select(i => $"key{i} no{i}")) + "\r\n");

        Assert.Equal(expected + "END\r\n", reply);
    }

    [Theory]
    [InlineData("get plain\r\n")]
    [InlineData("get flagged\r\n")]
    [InlineData("get plain flagged missing\r\n")]
    [InlineData("set plain 0 0 3\r\nabc\r\n")]
    [InlineData("set flagged 1 0 3\r\nabc\r\n")]
    [InlineData("mg plain v c k O1\r\n")]
    [InlineData("mg flagged v t f s q\r\n")]
    [InlineData("ms plain 3 c\r\nabc\r\n")]
    [InlineData("touch plain 0\r\n")]
    [InlineData("delete missing\r\n")]
    public void Request_allocates_nothing(string request)
    {
        using var session = new SessionUnderTest();
        session.Send("set plain 0 0 3\r\nabc\r\nset flagged 1 100 3\r\nabc\r\n");
        byte[] input = Encoding.ASCII.GetBytes(request);

        long least = long.MaxValue;
        for (int i = 0; i < 20; i++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int j = 0; j < 100; j++)
            {
                session.Session.Execute(input, session.Output, 100);
                session.Output.Clear();
            }

            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        Assert.Equal(0, least);
    }

    private static string Text(int length) => string.Create(length, 0, (text, _) =>
    {
        for (int i = 0; i < text.Length; i++)
        {
            text[i] = (char)('a' + (i * 7 % 26));
        }
    });

    [Theory]
    [InlineData("get")]
    [InlineData("gat 0")]
    public void Missing_keys_are_looked_up_in_turns_of_bounded_length(string command)
    {
        const int Keys = 100_000;
        using var session = new SessionUnderTest();
        byte[] request = Encoding.ASCII.GetBytes($"{command}{string.Concat(Enumerable.Repeat(" k", Keys))}\r\nmn\r\n");
        var output = new OutputBuffer();

        int turns = 1;
        int consumed;
        while ((consumed = session.Session.Execute(request, output, budget: 1)) == 0)
        {
            Assert.True(session.Session.HasUnfinishedRequest);
            turns++;
        }

        Assert.InRange(turns, Keys / 1024, (Keys / 1024) + 1);
        Assert.Equal(request.Length - 4, consumed);
        Assert.False(session.Session.HasUnfinishedRequest);
        Assert.Equal("END\r\n", Encoding.ASCII.GetString(output.ToArray()));
    }
}
