using Cairn.Server.Exposition;
using Cairn.Server.Metrics;

namespace Cairn.Server.Tests.Metrics;

public sealed class RequestRecorderTests
{
    private const int Get = 3;
    private const int Set = 4;

    private readonly SlowLog _slow = new();
    private readonly ManualClock _clock = new(hasTimers: true);

    private RequestRecorder New() => new(_slow, _clock);

    [Fact]
    public void Requests_of_a_batch_have_its_latency_and_share_the_work()
    {
        RequestRecorder recorder = New();
        recorder.Count(Get);
        recorder.Count(Get);
        recorder.Count(Set);

        recorder.EndBatch(arrived: 0, began: Ticks(1), now: Ticks(4));

        Assert.Equal((2, 1), (recorder.Requests(Get), recorder.Requests(Set)));
        Assert.Equal((2, 1), (recorder.Latencies(Get)!.Count, recorder.Latencies(Set)!.Count));
        Assert.Equal(4_000_000, recorder.Latencies(Get)!.MaxNs);
        Assert.Equal((2_000_000, 1_000_000), (recorder.BusyNs(Get), recorder.BusyNs(Set)));
        Assert.False(recorder.HasPending);
    }

    [Fact]
    public void Slow_batch_without_a_known_cause_makes_every_request_watched_for_a_while()
    {
        RequestRecorder recorder = New();
        recorder.Count(Get);

        TimeSpan slow = recorder.EndBatch(0, 0, Ticks(50));

        Assert.Equal(TimeSpan.FromMilliseconds(50), slow);
        Assert.True(recorder.WatchesAll);
        recorder.Count(Get);
        recorder.EndBatch(Ticks(20_000), Ticks(20_000), Ticks(20_001));
        Assert.False(recorder.WatchesAll);
    }

    [Fact]
    public void Slow_batch_with_a_slow_request_is_explained()
    {
        RequestRecorder recorder = New();
        long watched = recorder.Watch(mayTakeLong: true);
        _clock.Advance(TimeSpan.FromMilliseconds(10));

        Assert.True(recorder.IsSlow(watched, out TimeSpan duration));
        recorder.AddSlow(Request(duration));
        recorder.Count(Set);

        Assert.Equal(TimeSpan.Zero, recorder.EndBatch(0, 0, Ticks(50)));
        Assert.Equal(TimeSpan.FromMilliseconds(10), Assert.Single(_slow.Latest(10)).Duration);
    }

    [Fact]
    public void Request_that_needs_less_than_the_threshold_is_not_slow()
    {
        RequestRecorder recorder = New();
        long watched = recorder.Watch(mayTakeLong: true);
        _clock.Advance(TimeSpan.FromMilliseconds(9));

        Assert.False(recorder.IsSlow(watched, out _));
        Assert.Equal(0, recorder.Watch(mayTakeLong: false));
        Assert.False(recorder.IsSlow(0, out _));
    }

    [Fact]
    public void Every_request_is_watched_where_the_threshold_is_below_what_batches_take()
    {
        _slow.Threshold = TimeSpan.Zero;
        RequestRecorder recorder = New();

        Assert.True(recorder.IsSlow(recorder.Watch(mayTakeLong: false), out _));
    }

    [Fact]
    public void Nothing_is_slow_when_the_log_is_off()
    {
        _slow.Threshold = Timeout.InfiniteTimeSpan;
        RequestRecorder recorder = New();
        recorder.Count(Get);

        Assert.Equal(TimeSpan.Zero, recorder.EndBatch(0, 0, Ticks(100_000)));
        Assert.False(recorder.WatchesAll);
        Assert.Equal(Timeout.InfiniteTimeSpan, _slow.Threshold);
    }

    [Fact]
    public void Log_keeps_the_latest_and_numbers_all()
    {
        _slow.Capacity = 2;
        for (int ms = 1; ms <= 3; ms++)
        {
            _slow.Add(Request(TimeSpan.FromMilliseconds(ms)));
        }

        Assert.Equal([2, 1], _slow.Latest(10).Select(request => request.Id));
        Assert.Equal((2, 3), (_slow.Count, _slow.Total));
        _slow.Clear();
        Assert.Empty(_slow.Latest(10));
        Assert.Equal(3, _slow.Total);
    }

    [Fact]
    public void Log_takes_at_most_8_MiB_however_many_entries_it_may_have()
    {
        _slow.Capacity = 65_536;
        byte[] argument = new byte[SlowRequest.MaxArgumentBytes];
        SlowRequest longest = Request(TimeSpan.FromMilliseconds(10)) with { Arguments = [.. Enumerable.Repeat(argument, SlowRequest.MaxArguments)] };

        for (int i = 0; i < 4000; i++)
        {
            _slow.Add(longest);
        }

        Assert.InRange(_slow.Bytes, 7 << 20, 8 << 20);
        Assert.InRange(_slow.Count, 1000, 2000);
        Assert.Equal(3999, _slow.Latest(1)[0].Id);

        _slow.Clear();
        Assert.Equal(0, _slow.Bytes);
    }

    [Fact]
    public void Long_argument_is_cut_and_says_so()
    {
        byte[] cut = SlowRequest.Cut(new byte[200]);

        Assert.Equal(new byte[128], cut[..128]);
        Assert.Equal("... (72 more bytes)", System.Text.Encoding.ASCII.GetString(cut[128..]));
    }

    [Fact]
    public void Recording_allocates_nothing_once_a_command_was_used()
    {
        RequestRecorder recorder = New();
        Batch(recorder);
        long before = GC.GetAllocatedBytesForCurrentThread();

        for (int i = 0; i < 1000; i++)
        {
            Batch(recorder);
        }

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());

        static void Batch(RequestRecorder recorder)
        {
            recorder.Count(Get);
            recorder.CountLookups(Get, 1, 1);
            recorder.CountError(Get);
            recorder.EndBatch(0, 0, 1);
        }
    }

    private static SlowRequest Request(TimeSpan duration) => new()
    {
        At = DateTimeOffset.UnixEpoch, Duration = duration, Protocol = "resp", Client = "127.0.0.1:5", Arguments = ["get"u8.ToArray()],
    };

    private static long Ticks(int ms) => TimeSpan.FromMilliseconds(ms).Ticks;
}
