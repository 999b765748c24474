using System.Text;
using Cairn.Server.Memcached;

namespace Cairn.Server.Tests.Memcached;

/// <summary>The server reads requests ahead and executes them as if it had not.</summary>
public class LookAheadTests
{
    // More requests than the server reads ahead for all connections together.
    private const int RequestsOfOthers = 2000;

    public enum Ahead
    {
        BeforeEachTurn,
        Once,
        ThenOthers,
        ThenMoreArrives,
    }

    public static TheoryData<int, Ahead> Ways
    {
        get
        {
            var rows = new TheoryData<int, Ahead>();
            foreach (int budget in new[] { 1, 2, 1000 })
            {
                foreach (Ahead ahead in Enum.GetValues<Ahead>())
                {
                    rows.Add(budget, ahead);
                }
            }

            return rows;
        }
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public void Scripts_are_answered_the_same_when_they_were_read_ahead(int budget, Ahead ahead)
    {
        using var expecting = new SessionUnderTest();
        using var asked = new SessionUnderTest();

        foreach (string script in MemcachedScripts.All)
        {
            Assert.Equal(Run(expecting, script, budget, null), Run(asked, script, budget, ahead));
        }
    }

    [Fact]
    public void Deep_pipeline_is_answered_in_order()
    {
        using var session = new SessionUnderTest();
        string requests = string.Concat(Enumerable.Range(0, 500).Select(i => $"set k{i} 0 0 4\r\n{i:D4}\r\nget k{i}\r\n"));
        session.Add(Encoding.Latin1.GetBytes(requests));

        var reply = new StringBuilder();
        do
        {
            session.LookAhead();
            reply.Append(session.Execute(budget: 100) ? session.Read() : "");
        }
        while (session.RestBytes > 0);

        Assert.Equal(string.Concat(Enumerable.Range(0, 500).Select(i => $"STORED\r\nVALUE k{i} 0 4\r\n{i:D4}\r\nEND\r\n")), reply.ToString());
    }

    private static string Run(SessionUnderTest session, string script, int budget, Ahead? ahead)
    {
        session.Reconnect();
        session.Send("flush_all\r\n");
        byte[] bytes = Encoding.Latin1.GetBytes(script);
        int cut = ahead == Ahead.ThenMoreArrives ? bytes.Length / 2 : bytes.Length;
        session.Add(bytes.AsSpan(..cut));
        var reply = new StringBuilder();
        if (ahead is not null)
        {
            session.LookAhead();
        }

        if (ahead == Ahead.ThenOthers)
        {
            TextSession other = session.CreateAnother();
            byte[] theirs = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("get other\r\n", 50)));
            for (int i = 0; i < RequestsOfOthers / 50; i++)
            {
                other.Prefetch(theirs);
            }
        }

        session.Add(bytes.AsSpan(cut..));
        while (session.Execute(budget) || session.Output.UnsentBytes > 0)
        {
            reply.Append(session.Read());
            if (ahead == Ahead.BeforeEachTurn)
            {
                session.LookAhead();
            }
        }

        return MemcachedPeer.Normal(reply.ToString());
    }
}
