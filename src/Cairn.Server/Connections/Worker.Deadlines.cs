using Cairn.Server.Timing;

namespace Cairn.Server.Connections;

// Time limits. Transferred bytes renew the time, so a long value over a slow line is not an error.
internal sealed unsafe partial class Worker
{
    private const long Never = long.MaxValue;

    private void MeetDeadlines()
    {
        while (_deadlines.TakeDue(Now) is { } entry)
        {
            ClientConnection connection = entry.Connection;
            MeetDeadline(connection);
            if (connection.State != ConnectionState.Closed)
            {
                ScheduleDeadline(connection);
            }
        }
    }

    private void ScheduleDeadline(ClientConnection connection)
    {
        long due = NextDeadline(connection);
        if (due != Never)
        {
            _deadlines.Schedule(connection.DeadlineEntry, Math.Max(due, Now + 1), Now);
        }
    }

    private void MeetDeadline(ClientConnection connection)
    {
        if (connection.State == ConnectionState.Lingering)
        {
            if (Now >= connection.LingerUntil)
            {
                CloseChannel(connection, isHard: false);
            }

            return;
        }

        if (connection.BlockedSince != 0)
        {
            connection.NoteBlocked(Now);
        }

        if (connection.RequestSince != 0 && connection.BytesReceived - connection.RequestMark >= ClientConnection.RenewingBytes)
        {
            connection.RequestSince = Now;
            connection.RequestMark = connection.BytesReceived;
        }

        if (Now >= SlowReaderDeadline(connection))
        {
            BeginClose(connection, CloseReason.ReaderTooSlow);
        }
        else if (Now >= HandshakeDeadline(connection))
        {
            BeginClose(connection, CloseReason.TlsFailed);
        }
        else if (Now >= RequestDeadline(connection))
        {
            Fail(connection, CloseReason.RequestTooSlow);
        }
        else if (Now >= IdleDeadline(connection))
        {
            Fail(connection, CloseReason.Idle);
        }
    }

    private long NextDeadline(ClientConnection connection) => connection.State == ConnectionState.Lingering
        ? connection.LingerUntil
        : Math.Min(
            Math.Min(SlowReaderDeadline(connection), HandshakeDeadline(connection)),
            Math.Min(RequestDeadline(connection), IdleDeadline(connection)));

    private long SlowReaderDeadline(ClientConnection connection) =>
        connection.BlockedSince == 0 || connection.Session.OnlyReceives ? Never : After(connection.BlockedSince, Limits.SlowReaderTimeout);

    private long HandshakeDeadline(ClientConnection connection) =>
        connection.Tls is not { IsEstablished: false } ? Never : After(connection.ConnectedTimestamp, Limits.RequestTimeout);

    private long RequestDeadline(ClientConnection connection) =>
        connection.RequestSince == 0 || connection.State != ConnectionState.Open || connection.IsReceivePaused
            ? Never
            : After(connection.RequestSince, Limits.RequestTimeout);

    // A connection whose output waits is slow, not idle. A connection that waits for a cell or for memory waits for the server.
    private long IdleDeadline(ClientConnection connection) =>
        connection.State != ConnectionState.Open || connection.BlockedSince != 0 || connection.IsWaiting || connection.IsAwaitingMemory
        || connection.Session.OnlyReceives
            ? Never
            : After(Math.Max(connection.LastActivity, connection.WaitedUntil), Limits.IdleTimeout);

    // The connection waited for something other than its client's next request. Its idle time starts now.
    private void NoteWaited(ClientConnection connection)
    {
        connection.WaitedUntil = Now;
        ScheduleDeadline(connection);
    }

    private static long After(long since, TimeSpan timeout) =>
        timeout == Timeout.InfiniteTimeSpan ? Never : since + (long)timeout.TotalMilliseconds;
}
