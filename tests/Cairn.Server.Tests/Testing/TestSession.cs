using System.Buffers.Text;
using System.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Testing;

/// <summary>
/// A line protocol for tests of connections:
/// echo TEXT -> TEXT; big N -> N bytes; put N, then N bytes -> stored N; upgrade -> another session; quit; throw.
/// </summary>
internal sealed class TestSession : Session
{
    private readonly TestSessions _sessions;
    private int _putBytes = -1;

    public TestSession(ClientConnection connection, TestSessions sessions)
    {
        Connection = connection;
        _sessions = sessions;
    }

    public ClientConnection Connection { get; }

    /// <summary>Gets the number of the last execution, counted over all sessions.</summary>
    public long LastExecution { get; private set; }

    public override void Prefetch(ReadOnlySpan<byte> input) => _sessions.CountPrefetch();

    public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget)
    {
        NeededBytes = 0;
        LastExecution = _sessions.CountExecution();
        int consumed = 0;
        while (budget-- > 0 && !output.IsFull && TryExecute(input[consumed..], output, out int bytes))
        {
            consumed += bytes;
            if (!Connection.IsOpen || !ReferenceEquals(Connection.Session, this))
            {
                break;
            }
        }

        return consumed;
    }

    public override void OnClosing(CloseReason reason, OutputBuffer output) =>
        output.Write(Encoding.ASCII.GetBytes($"error {reason}\n"));

    public override void OnClosed(CloseReason reason) => _sessions.NoteClosed(reason);

    /// <summary>Fills the reply of <c>big</c>.</summary>
    public static void FillPattern(Span<char> text, int bytes)
    {
        for (int i = 0; i < bytes; i++)
        {
            text[i] = LetterAt(bytes - i);
        }
    }

    private bool TryExecute(ReadOnlySpan<byte> input, OutputBuffer output, out int consumed)
    {
        consumed = 0;
        if (_putBytes >= 0)
        {
            if (input.Length < _putBytes)
            {
                NeededBytes = _putBytes;
                return false;
            }

            consumed = _putBytes;
            WriteNumber(output, "stored "u8, _putBytes);
            _putBytes = -1;
            return true;
        }

        int end = input.IndexOf((byte)'\n');
        if (end < 0)
        {
            return false;
        }

        consumed = end + 1;
        ReadOnlySpan<byte> line = input[..end];
        if (line.StartsWith("echo "u8))
        {
            output.Write(input[5..consumed]);
        }
        else if (line.StartsWith("big "u8))
        {
            WritePattern(output, NumberIn(line));
        }
        else if (line.StartsWith("put "u8))
        {
            _putBytes = NumberIn(line);
        }
        else if (line.SequenceEqual("upgrade"u8))
        {
            output.Write("upgraded\n"u8);
            Connection.Session = new TestSession(Connection, _sessions);
        }
        else if (line.SequenceEqual("quit"u8))
        {
            Connection.Close(CloseReason.ClosedBySession);
        }
        else if (line.SequenceEqual("throw"u8))
        {
            throw new InvalidOperationException("The client asked for it.");
        }
        else
        {
            output.Write("what?\n"u8);
        }

        return true;
    }

    private static int NumberIn(ReadOnlySpan<byte> line) =>
        Utf8Parser.TryParse(line[4..], out int number, out _) ? number : throw new InvalidOperationException("A test asked for no number.");

    private static void WritePattern(OutputBuffer output, int bytes)
    {
        while (bytes > 0)
        {
            int count = Math.Min(bytes, 16 << 10);
            Span<byte> room = output.Reserve(count)[..count];
            for (int i = 0; i < count; i++)
            {
                room[i] = (byte)LetterAt(bytes - i);
            }

            output.Advance(count);
            bytes -= count;
        }
    }

    // The letter at this distance from the end.
    private static char LetterAt(int left) => (char)('a' + (left % 26));

    private static void WriteNumber(OutputBuffer output, ReadOnlySpan<byte> word, int number)
    {
        output.Write(word);
        Utf8Formatter.TryFormat(number, output.Reserve(11), out int bytes);
        output.Advance(bytes);
        output.Write("\n"u8);
    }
}
