// One run of the simulator: its virtual time, and what has to happen at which moment. Everything runs on the thread that calls Run.
//
//   I1  Events happen in the order of their moments, and at the same moment in the order in which they were scheduled.
//   I2  An event belongs to a place (a machine or a server). It is dropped if that place has crashed since, and delayed while it is stalled.
//   I3  No event depends on anything outside the world but its seed.
using System.Diagnostics.CodeAnalysis;

namespace Cairn.Simulation.Scheduling;

internal sealed class World
{
    /// <summary>The moment at which each run begins.</summary>
    public static readonly DateTimeOffset Beginning = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    [ThreadStatic]
    private static World? t_current;

    private const long EventsAtMost = 3_000_000;

    private readonly PriorityQueue<Event, (long At, long Sequence)> _events = new();
    private readonly SeededRandom _scheduling;
    private readonly int _thread = Environment.CurrentManagedThreadId;
    private long _sequence;

    public World(ulong seed, History history, int twin = 0)
    {
        Seed = seed;
        History = history;
        Twin = twin;
        _scheduling = SeededRandom.For(seed, "scheduling");
        Outside = new Place(this, "world", SeededRandom.For(seed, "world"));
        Here = Outside;
    }

    /// <summary>Gets the world that runs on this thread.</summary>
    public static World Current => t_current ?? throw new InvalidOperationException("No world runs on this thread. Code of the product left its scheduler.");

    public ulong Seed { get; }

    /// <summary>Gets the number of the broken twin that takes part; 0 for none.</summary>
    public int Twin { get; }

    public History History { get; }

    /// <summary>Gets the time since the beginning, in ticks of 100 ns.</summary>
    public long Now { get; private set; }

    /// <summary>Gets the number of events so far.</summary>
    public long Events { get; private set; }

    /// <summary>Gets or sets how many events a run may have. One with more does the same again and again.</summary>
    public long MaxEvents { get; set; } = EventsAtMost;

    /// <summary>Gets the place whose event runs now.</summary>
    public Place Here { get; private set; }

    /// <summary>Gets the place of events that belong to no machine, such as the beginning of a fault.</summary>
    public Place Outside { get; }

    /// <summary>Gets the failure of work that no code awaits.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>Lets work of a place run after a time, on the clock of the world.</summary>
    public void Schedule(Place place, long delay, SendOrPostCallback work, object? state)
    {
        if (Environment.CurrentManagedThreadId != _thread)
        {
            throw new InvalidOperationException("Work was scheduled by another thread. Code of the product left its scheduler.");
        }

        long sequence = ++_sequence;
        _events.Enqueue(new Event(place, place.Life, work, state), (Now + Math.Max(0, delay), sequence));
    }

    public void Schedule(long delay, Action work) => Schedule(Outside, delay, static action => ((Action)action!)(), work);

    /// <summary>Returns how long a ready piece of work waits for a thread.</summary>
    public long NextWait() => _scheduling.Below(64) == 0 ? _scheduling.Between(0, 20_000) : _scheduling.Between(0, 200);

    /// <summary>Runs all events up to a moment, in ticks since the beginning.</summary>
    [SuppressMessage("Design", "CA1031", Justification = "A failure of work that no code awaits is a finding.")]
    public void RunUntil(long end)
    {
        World? outer = t_current;
        SynchronizationContext? outerContext = SynchronizationContext.Current;
        t_current = this;
        try
        {
            while (Failure is null && _events.TryPeek(out _, out (long At, long Sequence) key) && key.At <= end)
            {
                RunNext(_events.Dequeue(), key);
                if (Events > MaxEvents)
                {
                    throw new InvalidOperationException($"There were {MaxEvents} events: {Here.Name} does the same again and again.");
                }
            }

            Now = Math.Max(Now, end);
        }
        catch (Exception failure)
        {
            Failure = failure;
        }
        finally
        {
            t_current = outer;
            Here = Outside;
            SynchronizationContext.SetSynchronizationContext(outerContext);
        }
    }

    /// <summary>Runs the ready work of this place, without any time passing, until a condition holds or none is left.</summary>
    public void RunReady(Func<bool> isDone)
    {
        Place place = Here;
        List<(Event Event, (long At, long Sequence) Key)> others = [];
        while (!isDone() && _events.TryDequeue(out Event next, out (long At, long Sequence) key))
        {
            if (next.Place == place && place.StalledUntil <= Now && key.At <= Now + TimeSpan.TicksPerMillisecond * 2 && next.IsReady)
            {
                RunNext(next, (Now, key.Sequence));
            }
            else if (key.At > Now + TimeSpan.TicksPerMillisecond * 2)
            {
                others.Add((next, key));
                break;
            }
            else
            {
                others.Add((next, key));
            }
        }

        foreach ((Event other, (long At, long Sequence) key) in others)
        {
            _events.Enqueue(other, key);
        }

        Enter(place);
    }

    /// <summary>Lets work of a place run now, or when it is no longer stalled.</summary>
    public void Run(Place place, SendOrPostCallback work, object? state)
    {
        // At the end of the stall, what was scheduled before comes first.
        if (place.StalledUntil >= Now && Now > 0)
        {
            Schedule(place, 0, work, state);
            return;
        }

        Place before = Here;
        Enter(place);
        work(state);
        Enter(before);
    }

    /// <summary>Runs work of a place now, before, between or after events too.</summary>
    public void RunAt(Place place, Action work)
    {
        World? outer = t_current;
        SynchronizationContext? outerContext = SynchronizationContext.Current;
        Place before = Here;
        t_current = this;
        try
        {
            Enter(place);
            work();
        }
        finally
        {
            Here = before;
            SynchronizationContext.SetSynchronizationContext(outerContext);
            t_current = outer;
        }
    }

    private void RunNext(in Event next, (long At, long Sequence) key)
    {
        Now = Math.Max(Now, key.At);
        if (next.Place.Life != next.Life)
        {
            return; // I2
        }

        if (next.Place.StalledUntil > Now)
        {
            _events.Enqueue(next, (next.Place.StalledUntil, key.Sequence));
            return;
        }

        Events++;
        Enter(next.Place);
        next.Work(next.State);
    }

    private void Enter(Place place)
    {
        Here = place;
        SynchronizationContext.SetSynchronizationContext(place.Context);
    }

    private readonly record struct Event(Place Place, int Life, SendOrPostCallback Work, object? State)
    {
        // A timer is no ready work.
        public bool IsReady => State is not MachineTimer.Armed;
    }
}
