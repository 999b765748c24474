using Cairn.FileStore.Sharing;

namespace Cairn.FileStore.Tests.Sharing;

/// <summary>The side file's invariants S1 to S5.</summary>
public sealed class MappedChannelTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly CacheFile _file = new();
    private readonly List<MappedChannel> _channels = [];

    public void Dispose()
    {
        foreach (MappedChannel channel in _channels)
        {
            channel.Close();
        }

        _file.Dispose();
    }

    [Fact]
    public async Task Turns_exclude_each_other()
    {
        const int Turns = 2000;
        long unguarded = 0;

        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Open()).Select(channel => OwnThread.Run(() =>
        {
            for (int i = 0; i < Turns; i++)
            {
                channel.Enter(Patience);
                unguarded++;
                channel.Leave();
            }
        })));

        Assert.Equal(4 * Turns, unguarded);
    }

    [Fact]
    public async Task Writer_is_served_though_another_takes_every_turn_it_can_get()
    {
        using var isDone = new CancellationTokenSource();
        MappedChannel greedy = Open();
        MappedChannel modest = Open();
        Task taking = OwnThread.Run(() =>
        {
            while (!isDone.IsCancellationRequested)
            {
                greedy.Enter(Patience);
                greedy.Leave();
            }
        });

        for (int i = 0; i < 20; i++)
        {
            modest.Enter(Patience);
            modest.Leave();
        }

        await isDone.CancelAsync();
        await taking;
    }

    [Fact]
    public void Turn_of_a_killed_process_is_free_again()
    {
        MappedChannel channel = Open();
        using var holder = ChildProcess.Start(typeof(Program), "hold-turn", _file.SidePath);
        Assert.Equal("held", holder.ReadLine());
        Assert.Throws<DistributedFileStoreCacheException>(() => channel.Enter(TimeSpan.FromMilliseconds(20)));

        holder.Kill();

        channel.Enter(TimeSpan.Zero);
        channel.Leave();
    }

    [Fact]
    public async Task Process_that_is_killed_in_the_queue_delays_no_other()
    {
        MappedChannel first = Open();
        MappedChannel last = Open();
        first.Enter(Patience);
        using (var queued = ChildProcess.Start(typeof(Program), "hold-turn", _file.SidePath))
        {
            // A process that has taken its ticket is in the queue. Nothing else changes the page during that time.
            Eventually.True(() => TicketsTaken() > 0);
            queued.Kill();
        }

        Task waiting = OwnThread.Run(() => last.Enter(Patience));
        first.Leave();

        await waiting;
        last.Leave();
    }

    [Fact]
    public async Task Record_that_is_read_is_that_of_its_generation()
    {
        MappedChannel writer = Open();
        MappedChannel reader = Open();
        using var isDone = new CancellationTokenSource();
        Task<int> reading = OwnThread.Run(() =>
        {
            int wrong = 0;
            while (!isDone.IsCancellationRequested)
            {
                CommitRecord record = reader.Read(out long generation);
                wrong += record.Length == generation && record.End == -generation ? 0 : 1;
            }

            return wrong;
        });

        for (long generation = 1; generation <= 300_000; generation++)
        {
            Assert.Equal(generation, writer.Commit(new CommitRecord { Length = generation, End = -generation }, isNewBase: false));
        }

        await isDone.CancelAsync();
        Assert.Equal(0, await reading);
    }

    private int TicketsTaken() => File.ReadAllBytes(_file.SidePath)[128];

    private MappedChannel Open()
    {
        MappedChannel channel = MappedChannel.TryOpen(_file.SidePath, _file.FilePath, out _)!;
        _channels.Add(channel);
        return channel;
    }
}
