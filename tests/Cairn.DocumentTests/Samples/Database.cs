using System.Runtime.Serialization;

namespace Cairn.DocumentTests.Samples;

/// <summary>The database from which the shop of the documents loads its books.</summary>
public sealed class Database
{
    private readonly Dictionary<int, Book> _books = new() { [42] = new Book(42, "Dune", 9.5m) };

    public int Queries { get; private set; }

    public ValueTask<Book> LoadBookAsync(int id, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Queries++;
        return new(_books[id]);
    }

    public Task SaveAsync(Book book)
    {
        _books[book.Id] = book;
        return Task.CompletedTask;
    }

    public Task AddAsync(Book book, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return SaveAsync(book);
    }
}

[DataContract]
public sealed record Book(
    [property: DataMember(Order = 1)] int Id,
    [property: DataMember(Order = 2)] string Title,
    [property: DataMember(Order = 3)] decimal Price);
