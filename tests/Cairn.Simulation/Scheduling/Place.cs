namespace Cairn.Simulation.Scheduling;

/// <summary>A machine or a server: its clocks, its random numbers, and its work.</summary>
internal class Place
{
    // The clock of a machine that has run for a while: zero has meanings of its own.
    private long _base = 1_000 * TimeSpan.TicksPerSecond;
    private long _baseOfWorld;
    private double _rate = 1;

    public Place(World world, string name, SeededRandom random)
    {
        World = world;
        Name = name;
        Random = random;
        Context = new PlaceContext(this);
    }

    public World World { get; }

    public string Name { get; }

    public SeededRandom Random { get; }

    public SynchronizationContext Context { get; }

    /// <summary>Gets how often the place has crashed. Work of an earlier life does not run.</summary>
    public int Life { get; private set; }

    /// <summary>Gets the moment until which no work runs; in the past if the place runs.</summary>
    public long StalledUntil { get; private set; }

    /// <summary>Gets for how long the place was stalled so far.</summary>
    public long Stalled { get; private set; }

    /// <summary>Gets or sets how far the time of day is from that of the world, in ticks.</summary>
    public long DayOffset { get; set; }

    /// <summary>Gets the monotonic clock, in ticks of 100 ns.</summary>
    public long Monotonic => _base + (long)((World.Now - _baseOfWorld) * _rate);

    public long MonotonicMs => Monotonic / TimeSpan.TicksPerMillisecond;

    public DateTimeOffset Day => World.Beginning + new TimeSpan(Monotonic - _base + _baseOfWorld + DayOffset);

    /// <summary>Lets the monotonic clock run faster or slower from now on.</summary>
    public void Drift(double rate)
    {
        (_base, _baseOfWorld) = (Monotonic, World.Now);
        _rate = rate;
    }

    public void Stall(long ticks)
    {
        long until = World.Now + ticks;
        Stalled += Math.Max(0, until - Math.Max(StalledUntil, World.Now));
        StalledUntil = Math.Max(StalledUntil, until);
    }

    /// <summary>Drops all work of the place.</summary>
    public virtual void Crash()
    {
        Life++;
        StalledUntil = 0;
    }

    public void Post(SendOrPostCallback work, object? state) => World.Schedule(this, World.NextWait(), work, state);

    /// <summary>Lets work run after a time on the clock of the place.</summary>
    public void Schedule(TimeSpan time, SendOrPostCallback work, object? state) =>
        World.Schedule(this, (long)(time.Ticks / _rate), work, state);

    private sealed class PlaceContext(Place place) : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state) => place.Post(d, state);

        public override void Send(SendOrPostCallback d, object? state) => d(state);

        public override SynchronizationContext CreateCopy() => this;
    }
}
