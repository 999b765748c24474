using System.Buffers;
using Google.Protobuf;
using Google.Protobuf.Collections;

namespace Cairn.Caching.Protobuf.Tests.Wire;

/// <summary>Annotated types have the same wire format as protoc's code for the same schema, in both directions.</summary>
public sealed class WireTests
{
    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 200)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Value_is_written_byte_for_byte_as_generated_code_writes_it(int seed)
    {
        BookMessage generated = RandomBook(new Random(seed));
        ClearIfOne(generated.Ratings);
        ClearIfOne(generated.Colours);
        ClearIfOne(generated.Prices);
        Book ours = FromGenerated(generated);

        Assert.Equal(Convert.ToHexString(generated.ToByteArray()), Convert.ToHexString(Wired.Write(ours)));
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Generated_code_reads_what_was_written(int seed)
    {
        BookMessage generated = RandomBook(new Random(seed));

        Assert.Equal(generated, BookMessage.Parser.ParseFrom(Wired.Write(FromGenerated(generated))));
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Bytes_of_generated_code_are_read(int seed)
    {
        BookMessage generated = RandomBook(new Random(seed));

        Book read = Wired.Read<Book>(new ReadOnlySequence<byte>(generated.ToByteArray()));

        Assert.Equal(generated, ToGenerated(read));
    }

    [Fact]
    public void Numbers_that_are_not_packed_are_read()
    {
        // Field 18 occurs twice, each with a tag of its own.
        Book read = Wired.Read<Book>([0x90, 0x01, 1, 0x90, 0x01, 2]);

        Assert.Equal([1, 2], read.Ratings);
    }

    [Fact]
    public void Fields_of_a_newer_schema_are_skipped()
    {
        byte[] record = new RecordMessage { PropertyA = "a", PropertyB = "b", PropertyC = "c", Id = new GuidMessage { Lo = 1, Hi = 2 } }.ToByteArray();

        Author read = Wired.Read<Author>(new ReadOnlySequence<byte>([0x1A, 1, 0x78, 0x22, 2, 1, 2, .. record[..3]]));

        Assert.Equal("a", read.Name);
    }

    [Fact]
    public void Field_of_another_form_than_the_schema_says_is_refused()
    {
        // Field 1 of Author is text. Here it is a number.
        InvalidDataException failure = Assert.Throws<InvalidDataException>(() => Wired.Read<Author>([0x08, 5, 0x10, 7]));

        Assert.Contains("wire-type", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void List_alone_is_field_1_of_a_message()
    {
        var id = new Guid("00010203-0405-0607-0809-0a0b0c0d0e0f");
        List<CatalogueRecord> records = [.. Enumerable.Range(0, 50).Select(i => new CatalogueRecord($"a{i}", $"b{i}", $"c{i}", id))];

        RecordListMessage read = RecordListMessage.Parser.ParseFrom(Wired.Write(records));

        Assert.Equal(records.Select(record => record.PropertyC), read.Records.Select(record => record.PropertyC));
        Assert.Equal(BitConverter.ToUInt64(id.ToByteArray(), 8), read.Records[49].Id.Hi);
        Assert.Equal(records, Wired.Read<List<CatalogueRecord>>(new ReadOnlySequence<byte>(read.ToByteArray())));
    }

    [Fact]
    public void Sequence_of_many_pieces_is_read()
    {
        byte[] bytes = RandomBook(new Random(3)).ToByteArray();
        var first = new Piece(bytes.AsMemory(0, 1), 0);
        Piece last = first;
        for (int i = 1; i < bytes.Length; i++)
        {
            last = last.Followed(bytes.AsMemory(i, 1));
        }

        Book read = Wired.Read<Book>(new ReadOnlySequence<byte>(first, 0, last, 1));

        Assert.Equal(BookMessage.Parser.ParseFrom(bytes), ToGenerated(read));
    }

    internal static BookMessage RandomBook(Random random)
    {
        var book = new BookMessage
        {
            Id = Number(random),
            Sold = random.NextInt64() >> random.Next(64),
            Pages = (uint)Number(random),
            Serial = (ulong)(random.NextInt64() >> random.Next(64)),
            Shelf = Number(random),
            Offset = -(random.NextInt64() >> random.Next(64)),
            Crc = (uint)Number(random),
            Stamp = (ulong)random.NextInt64(),
            Low = Number(random),
            High = random.NextInt64() - random.NextInt64(),
            Available = random.Next(2) == 0,
            Weight = random.Next(3) == 0 ? 0 : random.NextSingle(),
            Price = random.Next(3) == 0 ? 0 : random.NextDouble(),
            Colour = (Colour)new[] { 0, 1, 7, 3, -4 }[random.Next(5)],
            Key = new GuidMessage { Lo = (ulong)random.NextInt64(), Hi = (ulong)random.NextInt64() },
        };
        if (random.Next(2) == 0)
        {
            book.Title = Text(random);
            book.Cover = ByteString.CopyFrom(Guid.NewGuid().ToByteArray(), 0, random.Next(16));
            book.Edition = Number(random);
        }

        if (random.Next(2) == 0)
        {
            book.Author = Person(random);
        }

        Fill(book.Ratings, random, Number);
        Fill(book.Tags, random, Text);
        Fill(book.Translators, random, Person);
        Fill(book.Prices, random, each => each.NextDouble());
        for (int i = random.Next(4); i > 0; i--)
        {
            book.Stock[Text(random) + i] = Number(random);
            book.Editors[i] = Person(random);
            Colour colour = (Colour)i;
            book.Colours.Add(colour);
        }

        return book;
    }

    private static void Fill<T>(RepeatedField<T> list, Random random, Func<Random, T> make)
    {
        for (int i = random.Next(5); i > 0; i--)
        {
            list.Add(make(random));
        }
    }

    // protobuf-net writes a single number without packing it. Readers accept both forms.
    private static void ClearIfOne<T>(RepeatedField<T> numbers)
    {
        if (numbers.Count == 1)
        {
            numbers.Clear();
        }
    }

    private static int Number(Random random) => (random.Next(2) == 0 ? 1 : -1) * (random.Next() >> random.Next(32));

    private static string Text(Random random) => new([.. Enumerable.Range(0, random.Next(20)).Select(_ => (char)random.Next(32, 0x2000))]);

    private static AuthorMessage Person(Random random)
    {
        var person = new AuthorMessage();
        if (random.Next(3) > 0)
        {
            person.Name = Text(random);
        }

        if (random.Next(3) > 0)
        {
            person.Born = random.Next(3) * Number(random);
        }

        return person;
    }

    private static Guid ToGuid(GuidMessage message)
    {
        byte[] bytes = new byte[16];
        BitConverter.TryWriteBytes(bytes, message.Lo);
        BitConverter.TryWriteBytes(bytes.AsSpan(8), message.Hi);
        return new Guid(bytes);
    }

    private static Author ToAuthor(AuthorMessage message) =>
        new() { Name = message.HasName ? message.Name : null, Born = message.HasBorn ? message.Born : null };

    private static Book FromGenerated(BookMessage message) => new()
    {
        Id = message.Id,
        Title = message.HasTitle ? message.Title : null,
        Sold = message.Sold,
        Pages = message.Pages,
        Serial = message.Serial,
        Shelf = message.Shelf,
        Offset = message.Offset,
        Crc = message.Crc,
        Stamp = message.Stamp,
        Low = message.Low,
        High = message.High,
        Available = message.Available,
        Weight = message.Weight,
        Price = message.Price,
        Cover = message.HasCover ? message.Cover.ToByteArray() : null,
        Colour = (BookColour)message.Colour,
        Author = message.Author is { } author ? ToAuthor(author) : null,
        Ratings = [.. message.Ratings],
        Tags = [.. message.Tags],
        Translators = [.. message.Translators.Select(ToAuthor)],
        Stock = new Dictionary<string, int>(message.Stock),
        Editors = message.Editors.ToDictionary(pair => pair.Key, pair => ToAuthor(pair.Value)),
        Key = ToGuid(message.Key),
        Colours = [.. message.Colours.Select(colour => (BookColour)colour)],
        Prices = [.. message.Prices],
        Edition = message.HasEdition ? message.Edition : null,
    };

    private static AuthorMessage ToMessage(Author author)
    {
        var message = new AuthorMessage();
        if (author.Name is not null)
        {
            message.Name = author.Name;
        }

        if (author.Born is { } born)
        {
            message.Born = born;
        }

        return message;
    }

    private static BookMessage ToGenerated(Book book)
    {
        var message = new BookMessage
        {
            Id = book.Id,
            Sold = book.Sold,
            Pages = book.Pages,
            Serial = book.Serial,
            Shelf = book.Shelf,
            Offset = book.Offset,
            Crc = book.Crc,
            Stamp = book.Stamp,
            Low = book.Low,
            High = book.High,
            Available = book.Available,
            Weight = book.Weight,
            Price = book.Price,
            Colour = (Colour)book.Colour,
            Author = book.Author is { } author ? ToMessage(author) : null,
            Key = new GuidMessage
            {
                Lo = BitConverter.ToUInt64(book.Key.ToByteArray()),
                Hi = BitConverter.ToUInt64(book.Key.ToByteArray(), 8),
            },
        };
        if (book.Title is not null)
        {
            message.Title = book.Title;
        }

        if (book.Cover is not null)
        {
            message.Cover = ByteString.CopyFrom(book.Cover);
        }

        if (book.Edition is { } edition)
        {
            message.Edition = edition;
        }

        message.Ratings.AddRange(book.Ratings ?? []);
        message.Tags.AddRange(book.Tags ?? []);
        message.Translators.AddRange((book.Translators ?? []).Select(ToMessage));
        message.Colours.AddRange((book.Colours ?? []).Select(colour => (Colour)colour));
        message.Prices.AddRange(book.Prices ?? []);
        foreach ((string key, int value) in book.Stock ?? [])
        {
            message.Stock[key] = value;
        }

        foreach ((int key, Author value) in book.Editors ?? new Dictionary<int, Author>())
        {
            message.Editors[key] = ToMessage(value);
        }

        return message;
    }

    private sealed class Piece : ReadOnlySequenceSegment<byte>
    {
        public Piece(ReadOnlyMemory<byte> memory, long start)
        {
            Memory = memory;
            RunningIndex = start;
        }

        public Piece Followed(ReadOnlyMemory<byte> memory)
        {
            var next = new Piece(memory, RunningIndex + Memory.Length);
            Next = next;
            return next;
        }
    }
}
