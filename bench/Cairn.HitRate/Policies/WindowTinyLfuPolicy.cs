namespace Cairn.HitRate.Policies;

// W-TinyLFU: a window in order of last use (a hundredth) takes what is new. What falls out of it competes with the victim of the
// main area, a segmented LRU with four fifths protected: the one that was asked for more often, by a sketch of all requests,
// stays. Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on Storage 13(4),
// 2017. The window has the paper's fixed size; it does not adapt.
internal sealed class WindowTinyLfuPolicy : ICachePolicy
{
    private readonly int _capacity;
    private readonly int _windowCapacity;
    private readonly int _protectedCapacity;
    private readonly KeyList _window;
    private readonly KeyList _probation;
    private readonly KeyList _protected;
    private readonly Place[] _places;
    private readonly FrequencySketch _sketch;

    public WindowTinyLfuPolicy(int capacity, int distinctKeys, double windowPart = 0.01)
    {
        _capacity = capacity;
        _windowCapacity = Math.Max(1, (int)(capacity * windowPart));
        _protectedCapacity = (capacity - _windowCapacity) * 4 / 5;
        _window = new KeyList(distinctKeys);
        _probation = new KeyList(distinctKeys);
        _protected = new KeyList(distinctKeys);
        _places = new Place[distinctKeys];
        _sketch = new FrequencySketch(capacity);
    }

    private enum Place : byte
    {
        Nowhere,
        Window,
        Probation,
        Protected,
    }

    public bool Request(int key)
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

    public void Dispose()
    {
    }

    private void Protect(int key)
    {
        Insert(_protected, Place.Protected, key);
        if (_protected.Count > _protectedCapacity)
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
