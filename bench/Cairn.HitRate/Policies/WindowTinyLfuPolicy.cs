namespace Cairn.HitRate.Policies;

// W-TinyLFU: new entries enter a window, which is in the order of the last use. An entry that leaves the window competes with the victim of the
// main area, a segmented LRU whose protected part is four fifths. A sketch counts all requests. The entry with more requests stays. Einziger,
// Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on Storage 13(4), 2017.
//
// The window starts with a hundredth of the capacity. If it adapts, it climbs: after ten times as many requests as the cache holds keys, its size
// changes by a step. The direction stays the same while the hit ratio grows, and is reversed when it falls. Each step is smaller than the
// one before, until the hit ratio changes a lot. Einziger, Eytan, Friedman and Manes, "Adaptive Software Cache Management", Middleware 2018.
internal sealed class WindowTinyLfuPolicy : ICachePolicy
{
    private const double WindowPart = 0.01;
    private const double StepPart = 0.0625;
    private const double StepDecay = 0.98;
    private const double LargeChange = 0.05;
    private const int RequestsPerStep = 10;

    private readonly int _capacity;
    private readonly KeyList _window;
    private readonly KeyList _probation;
    private readonly KeyList _protected;
    private readonly Place[] _places;
    private readonly FrequencySketch _sketch;
    private readonly bool _isAdaptive;
    private int _windowCapacity;
    private long _requests;
    private long _hits;
    private double _earlierRatio;
    private double _step;

    public WindowTinyLfuPolicy(int capacity, int distinctKeys, bool isAdaptive, double windowPart = WindowPart)
    {
        _capacity = capacity;
        _windowCapacity = Math.Max(1, (int)(capacity * windowPart));
        _window = new KeyList(distinctKeys);
        _probation = new KeyList(distinctKeys);
        _protected = new KeyList(distinctKeys);
        _places = new Place[distinctKeys];
        _sketch = new FrequencySketch(capacity);
        _isAdaptive = isAdaptive;
        _step = -StepPart * capacity;
    }

    private enum Place : byte
    {
        Nowhere,
        Window,
        Probation,
        Protected,
    }

    private int ProtectedCapacity => (_capacity - _windowCapacity) * 4 / 5;

    public bool Request(int key)
    {
        var isHit = Use(key);
        _requests++;
        _hits += isHit ? 1 : 0;
        if (_isAdaptive && _requests == (long)_capacity * RequestsPerStep)
        {
            Climb();
        }

        return isHit;
    }

    public void Dispose()
    {
    }

    private bool Use(int key)
    {
        _sketch.Increment(key);
        switch (_places[key])
        {
            case Place.Window:
                _window.Remove(key);
                _window.AddFirst(key);
                return true;
            case Place.Probation:
                _probation.Remove(key);
                Protect(key);
                return true;
            case Place.Protected:
                _protected.Remove(key);
                _protected.AddFirst(key);
                return true;
            default:
                Insert(_window, Place.Window, key);
                LeaveWindow();
                return false;
        }
    }

    private void Climb()
    {
        var ratio = (double)_hits / _requests;
        var change = ratio - _earlierRatio;
        var amount = change >= 0 ? _step : -_step;
        _step = Math.Abs(change) >= LargeChange ? StepPart * _capacity * Math.Sign(amount) : StepDecay * amount;
        _earlierRatio = ratio;
        _requests = 0;
        _hits = 0;

        _windowCapacity = Math.Clamp(_windowCapacity + (int)amount, 1, Math.Max(1, _capacity * 4 / 5));
        while (_window.Count > _windowCapacity)
        {
            Insert(_probation, Place.Probation, _window.RemoveLast());
        }

        while (_protected.Count > ProtectedCapacity)
        {
            Insert(_probation, Place.Probation, _protected.RemoveLast());
        }

        // A larger window takes the keys that the main area would evict next.
        while (_probation.Count > 0 && _window.Count < _windowCapacity)
        {
            Insert(_window, Place.Window, _probation.RemoveLast());
        }
    }

    private void Protect(int key)
    {
        Insert(_protected, Place.Protected, key);
        if (_protected.Count > ProtectedCapacity)
        {
            Insert(_probation, Place.Probation, _protected.RemoveLast());
        }
    }

    private void LeaveWindow()
    {
        if (_window.Count <= _windowCapacity)
        {
            return;
        }

        var candidate = _window.RemoveLast();
        if (_window.Count + _probation.Count + _protected.Count < _capacity)
        {
            Insert(_probation, Place.Probation, candidate);
            return;
        }

        var area = _probation.Count > 0 ? _probation : _protected;
        if (area.Count == 0)
        {
            _places[candidate] = Place.Nowhere;
            return;
        }

        var victim = area.Last;
        if (_sketch.Estimate(candidate) > _sketch.Estimate(victim))
        {
            area.Remove(victim);
            _places[victim] = Place.Nowhere;
            Insert(_probation, Place.Probation, candidate);
        }
        else
        {
            _places[candidate] = Place.Nowhere;
        }
    }

    private void Insert(KeyList list, Place place, int key)
    {
        list.AddFirst(key);
        _places[key] = place;
    }
}
